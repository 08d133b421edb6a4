import Foundation
import Glibc
import JSONRPC

/// A desk whose vendor is the sandbox behind nginx, with the name `desk.vendor.test`. Only the proxy, which is tinyproxy
/// with a hosts file of its own, can resolve that name.
final class ProxyDesk {
  static let password = "hunter2-of-the-proxy"

  let desk: Desk
  let nginx: Nginx
  /// The port of nginx with TLS.
  let port: UInt16
  /// The port of nginx without TLS, which is no proxy and answers with HTML.
  let plainPort: UInt16
  let proxyPort: UInt16
  private var proxy: Program?

  init() throws {
    try Counterpart.require("/usr/bin/tinyproxy", package: "tinyproxy")
    try Counterpart.require("/usr/bin/openssl", package: "openssl")
    desk = try Desk()
    let made = try Counterpart.run(Counterpart.script("certificates"), [desk.folder.path], in: desk)
    guard made.status == 0 else { throw Program.Failure(description: made.output) }
    let ports = try Nginx.freePorts(3)
    (port, plainPort, proxyPort) = (ports[0], ports[1], ports[2])
    let vendor = try desk.vendor.messaging.components(separatedBy: "/ns/")[0]
    nginx = try Nginx(
      in: desk.folder, port: port,
      servers: """
        server {
          listen 127.0.0.1:\(port) ssl;
          ssl_certificate \(desk.folder.path)/good.pem;
          ssl_certificate_key \(desk.folder.path)/good.key;
          location / { proxy_pass \(vendor); }
        }
        server { listen 127.0.0.1:\(plainPort); }
        """)
  }

  var caFile: String { desk.folder.appendingPathComponent("ca.pem").path }
  var url: String { "http://127.0.0.1:\(proxyPort)" }

  /// Writes `[network]` with this proxy and the authority of nginx.
  func configure(proxy: String? = nil, _ more: String = "") throws {
    try desk.write(
      "sdkd.toml",
      "[network]\nallow = [\"vendor.test\"]\nca_file = \"\(caFile)\"\nproxy = \"\(proxy ?? url)\"\n\(more)\n")
  }

  /// Writes the file of the proxy's credentials and returns the line of `[network]` that refers to it.
  func credentials(_ password: String = ProxyDesk.password) throws -> String {
    let file = try desk.write("proxy-secret", "desk:\(password)\n", mode: 0o600)
    return "proxy_credentials = { file = \"\(file.path)\" }"
  }

  /// Starts tinyproxy.
  ///
  /// - Parameter options: more lines of its configuration.
  func startProxy(_ options: String = "") throws {
    stopProxy()
    let hosts = try desk.write("hosts", "127.0.0.1 localhost desk.vendor.test other.vendor.test\n")
    let configuration = try desk.write(
      "tinyproxy.conf",
      """
      Port \(proxyPort)
      Listen 127.0.0.1
      Timeout 600
      LogLevel Connect
      Allow 127.0.0.1
      \(options)

      """)
    let log = desk.folder.appendingPathComponent("tinyproxy.log")
    let script = "mount --bind '\(hosts.path)' /etc/hosts && exec /usr/bin/tinyproxy -d -c '\(configuration.path)'"
    let program = try Program("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", script], output: log, log: log)
    proxy = program
    try eventually("tinyproxy listens", within: 30) {
      if let status = program.exit(within: 0) {
        throw Program.Failure(description: "tinyproxy ended with \(status): \(program.logText)")
      }
      guard let probe = try? RawHTTP(port: proxyPort) else { return false }
      probe.end()
      return true
    }
  }

  func stopProxy() {
    proxy?.signal(SIGKILL)
    _ = proxy?.exit(within: 10)
    proxy = nil
  }

  /// The log of tinyproxy.
  var proxyLog: String {
    (try? String(contentsOf: desk.folder.appendingPathComponent("tinyproxy.log"), encoding: .utf8)) ?? ""
  }

  /// The settings of an instance at the vendor. Its realtime socket is at the vendor too.
  func settings(_ more: JSONObject = [:]) -> JSONObject {
    let place = "desk.vendor.test:\(port)/ns/\(desk.namespace)/zm"
    let base: JSONObject = [
      "base_url": .string("https://\(place)"), "realtime_url": .string("wss://\(place)/faye"), "timeout": "5s",
    ]
    return base.merged(with: more)
  }

  /// Returns the error of a login.
  func refusal(on line: Line) throws -> RPCError {
    try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))], within: 40)
  }
}
