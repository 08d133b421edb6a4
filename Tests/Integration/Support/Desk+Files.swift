import Foundation
import JSONRPC

/// Instances that files define, and their reload.
extension Desk {
  /// Writes the file of an instance of Messaging; `head` are more lines before its tables.
  func file(_ id: String, label: String = "1", head: String = "", settings: String = "") throws {
    try write(
      "instances.d/\(id).toml",
      """
      id = "\(id)"
      kind = "zendesk.messaging"
      labels = { floor = "\(label)" }
      \(head)
      [settings]
      base_url = "\(try vendor.messaging)"
      app_id = "\(Desk.app)"
      \(settings)
      [access]
      use = ["uid:65534"]
      """)
  }

  func removeFile(_ id: String) throws {
    try FileManager.default.removeItem(at: folder.appendingPathComponent("instances.d/\(id).toml"))
  }

  /// Runs `sdkctl` on this desk's socket.
  func sdkctl(_ arguments: String...) throws -> (status: Int32, output: String, error: String) {
    let name = UUID().uuidString
    let output = folder.appendingPathComponent("out-\(name)")
    let program = try Program(
      "sdkctl", arguments, environment: ["SDKD_SOCKET": socket], output: output,
      log: folder.appendingPathComponent("err-\(name)"))
    guard let status = program.exit(within: 60) else { throw Program.Failure(description: "sdkctl runs on") }
    return (status, (try? String(contentsOf: output, encoding: .utf8)) ?? "", program.logText)
  }

  /// A check of `daemon.health`.
  func check(_ name: String, on line: Line) throws -> JSON? {
    try line.call("daemon.health")["checks"]?.arrayValue?.first { $0["name"]?.stringValue == name }
  }
}
