import Foundation
import Glibc
import JSONRPC

/// nginx on ports of loopback, as one process in the foreground.
final class Nginx {
  private let folder: URL
  private let port: UInt16
  private var program: Program?

  /// - Parameters:
  ///   - port: one of the ports of `servers`.
  ///   - servers: the `server` blocks of the configuration.
  init(in folder: URL, port: UInt16, servers: String) throws {
    try Counterpart.require("/usr/sbin/nginx", package: "nginx-light")
    self.folder = folder.appendingPathComponent("nginx-\(port)")
    self.port = port
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    try start(servers)
  }

  /// Starts nginx, with other servers if they are given.
  func start(_ servers: String? = nil) throws {
    let configuration = folder.appendingPathComponent("nginx.conf")
    if let servers {
      let text = Self.configuration(folder.path, servers)
      try Program.noFileIsBeingWritten.withLock { try Data(text.utf8).write(to: configuration) }
    }
    let log = folder.appendingPathComponent("log-\(UUID().uuidString)")
    let program = try Program(
      "/usr/sbin/nginx", ["-c", configuration.path, "-e", "stderr"], output: log, log: log)
    self.program = program
    try eventually("nginx listens", within: 30) {
      if let status = program.exit(within: 0) {
        throw Program.Failure(description: "nginx ended with \(status): \(program.logText)")
      }
      guard let probe = try? RawHTTP(port: port) else { return false }
      probe.end()
      return true
    }
  }

  /// Kills nginx: its connections break, and its ports are closed.
  func kill() {
    program?.signal(SIGKILL)
    _ = program?.exit(within: 10)
  }

  /// The requests that have ended, oldest first: `port`, `uri`, `status`, `tls` and `body`.
  var requests: [JSON] {
    let text = (try? String(contentsOf: folder.appendingPathComponent("requests"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
  }

  private static func configuration(_ folder: String, _ servers: String) -> String {
    """
    daemon off; master_process off; pid \(folder)/nginx.pid; error_log stderr crit;
    events { worker_connections 256; }
    http {
      log_format lines escape=json
        '{"port":$server_port,"uri":"$uri","status":$status,"tls":"$ssl_protocol","body":"$request_body"}';
      access_log \(folder)/requests lines;
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
      uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
      map $http_upgrade $upgraded { default upgrade; "" ""; }
      proxy_http_version 1.1; proxy_read_timeout 1h; proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $upgraded;
      \(servers)
    }
    """
  }

  /// Returns ports that were free a moment ago, all different.
  static func freePorts(_ count: Int) throws -> [UInt16] {
    let found = try (0..<count).map { _ in try RawHTTP.freePort() }
    for port in found { close(port.holder) }
    return found.map(\.port)
  }
}
