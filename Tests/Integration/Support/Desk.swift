import Foundation
import Glibc
import JSONRPC

/// A daemon and a sandbox of one test, in a scratch folder.
final class Desk: @unchecked Sendable {
  static let app = "5f0000000000000000000001"

  let folder: URL
  let namespace = UUID().uuidString.lowercased()
  private(set) var daemon: Program?
  private var starts = 0

  var socket: String { folder.appendingPathComponent("s").path }
  var state: URL { folder.appendingPathComponent("state") }
  var configuration: URL { folder.appendingPathComponent("sdkd.toml") }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    daemon = nil
    try? FileManager.default.removeItem(at: folder)
  }

  /// Opens a desk whose daemon is ready.
  static func open(configuration: String? = nil) throws -> Desk {
    let desk = try Desk()
    if let configuration { try desk.write("sdkd.toml", configuration) }
    try desk.start()
    return desk
  }

  @discardableResult
  func write(_ name: String, _ text: String, mode: Int = 0o644) throws -> URL {
    let file = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Program.noFileIsBeingWritten.withLock { try Data(text.utf8).write(to: file) }
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file
  }

  // MARK: The daemon

  /// - Parameters:
  ///   - hosts: the daemon's own `/etc/hosts`; needs root.
  ///   - subordinates: the daemon's own `/etc/subuid`; needs root.
  ///   - uid: the daemon's user; needs root.
  ///   - boot: the daemon's own boot ID; needs root.
  ///   - descriptors: the most file descriptors that the daemon may have.
  ///   - passed: what the daemon gets as the descriptors from 3 on.
  func start(
    environment: [String: String] = [:], waits: Bool = true, hosts: URL? = nil, subordinates: URL? = nil,
    boot: URL? = nil, uid: Int? = nil, descriptors: Int? = nil, before: String? = nil, passing passed: [Int32] = []
  ) throws {
    starts += 1
    let log = folder.appendingPathComponent("log\(starts)")
    var words = [
      Program.path("sdkd"), "--config", configuration.path, "--state", state.path, "--socket", socket,
    ]
    if let uid { words = ["/usr/bin/setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"] + words }
    if let descriptors { words = ["/bin/sh", "-c", "ulimit -n \(descriptors) && exec \"$@\"", "sh"] + words }
    if let before { words = ["/bin/sh", "-c", "\(before)\nexec \"$@\"", "sh"] + words }
    let mounts = [
      hosts.map { ($0, "/etc/hosts") }, subordinates.map { ($0, "/etc/subuid") },
      boot.map { ($0, "/proc/sys/kernel/random/boot_id") },
    ].compactMap(\.self)
    if !mounts.isEmpty {
      let script = mounts.map { "mount --bind '\($0.0.path)' \($0.1) && " }.joined() + "exec \"$@\""
      words = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh"] + words
    }
    let daemon = try Program(
      words[0], Array(words.dropFirst()), environment: environment,
      output: folder.appendingPathComponent("out"), log: log, passing: passed)
    self.daemon = daemon
    guard waits else { return }
    try eventually("the daemon is ready", within: 60) {
      if let status = daemon.exit(within: 0) {
        throw Program.Failure(description: "the daemon ended with \(status): \(daemon.logText)")
      }
      return daemon.logText.contains("sdkd: ready")
    }
  }

  /// Kills the daemon and starts it again.
  func crash() throws {
    daemon?.signal(SIGKILL)
    _ = daemon?.exit(within: 10)
    try start()
  }

  /// Stops the daemon with SIGTERM. Returns its exit status, or `nil` if it still runs after 30 seconds.
  @discardableResult
  func stop() -> Int32? {
    daemon?.signal(SIGTERM)
    return daemon?.exit(within: 30)
  }

  func connect(hasHeaders: Bool = false) throws -> Line { try Line(socket, owner: self, hasHeaders: hasHeaders) }

  /// The text of all logs of the daemon.
  var logs: String {
    (1...max(1, starts)).map {
      (try? String(contentsOf: folder.appendingPathComponent("log\($0)"), encoding: .utf8)) ?? ""
    }
    .joined()
  }

  // MARK: The vendor

  var vendor: Vendor { Vendor(namespace: namespace) }

  /// Creates an instance of the Messaging kind at the sandbox.
  @discardableResult
  func create(
    _ id: String, on line: Line, settings: JSONObject = [:], provider: JSON? = nil, access: JSON? = nil
  ) throws -> JSON {
    let base: JSONObject = ["base_url": .string(try vendor.messaging), "app_id": .string(Self.app)]
    var params: JSONObject = [
      "instance": .string(id), "kind": "zendesk.messaging", "settings": .object(base.merged(with: settings)),
    ]
    params["provider"] = provider
    params["access"] = access
    return try line.call("instance.create", .object(params))
  }

  /// Creates an instance of any kind.
  @discardableResult
  func create(
    _ id: String, kind: String, on line: Line, settings: JSONObject, provider: JSON? = nil, access: JSON? = nil
  ) throws -> JSON {
    var params: JSONObject = ["instance": .string(id), "kind": .string(kind), "settings": .object(settings)]
    params["provider"] = provider
    params["access"] = access
    return try line.call("instance.create", .object(params))
  }

  /// Creates a token provider from this shell script.
  func provider(_ script: String, name: String = "provider") throws -> JSON {
    let file = try write(name, "#!/bin/sh\n\(script)\n", mode: 0o755)
    return ["command": [.string(file.path)]]
  }

  /// Creates a provider that mints tokens for the requested user.
  func mintingProvider(ttl: Int = 3600) throws -> JSON {
    try provider("exec '\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\" --ttl \(ttl)")
  }
}
