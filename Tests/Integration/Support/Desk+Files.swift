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

  /// Writes the file of an instance of a sample's kind with these settings.
  func file(_ id: String, _ sample: KindSample, _ settings: JSONObject) throws {
    let lines = settings.members.map { "\($0.key) = \(JSONWriter.text(of: $0.value))" }
    try write(
      "instances.d/\(id).toml",
      "id = \"\(id)\"\nkind = \"\(sample.kind)\"\n[settings]\n\(lines.joined(separator: "\n"))\n")
  }

  func removeFile(_ id: String) throws {
    try FileManager.default.removeItem(at: folder.appendingPathComponent("instances.d/\(id).toml"))
  }

  /// Runs `sdkctl` on this desk's socket.
  func sdkctl(_ arguments: String...) throws -> CommandRun { try sdkctl(arguments) }

  /// Returns a check of `daemon.health`.
  func check(_ name: String, on line: Line) throws -> JSON? {
    try line.call("daemon.health")["checks"]?.arrayValue?.first { $0["name"]?.stringValue == name }
  }
}
