import Foundation
import JSONRPC
import Testing

/// The daemon's memory once a burst of work is over.
@Suite struct BurstTests {
  private static let count = 400

  @Test("Memory that a burst of logins and logouts needed goes back to the system")
  func memoryGoesBack() throws {
    let desk = try Desk.open(configuration: "[log]\nlevel = \"debug\"\n")
    let line = try desk.connect()
    let ids = (0..<Self.count).map { "i\($0)" }
    let jwt = JSON.string(try Vendor.mint("alice"))
    let settings: JSONObject = [
      "base_url": .string(try desk.vendor.messaging), "app_id": .string(Desk.app), "realtime": "off",
    ]
    try together(ids, on: line, "instance.create") {
      ["instance": .string($0), "kind": "zendesk.messaging", "settings": .object(settings)]
    }
    try together(ids, on: line, "messaging.loginUser") { ["instance": .string($0), "jwt": jwt] }
    try together(ids, on: line, "messaging.logoutUser") { ["instance": .string($0)] }
    try together(ids, on: line, "instance.delete") { ["instance": .string($0)] }
    // The start counts as a burst too, but leaves next to nothing.
    try eventually("a twentieth of the memory goes back", within: 120) {
      trims(desk).contains { Double($0.after) <= 0.95 * Double($0.before) }
    }
  }

  /// Makes a call for each id, 64 at a time. Throws when a call fails.
  private func together(_ ids: [String], on line: Line, _ method: String, _ params: (String) -> JSONObject) throws {
    for start in stride(from: 0, to: ids.count, by: 64) {
      let calls = ids[start..<min(start + 64, ids.count)].map { line.begin(method, .object(params($0))) }
      for id in calls {
        let answer = try line.answer(id, within: 60)
        guard answer["error"] == nil else { throw Program.Failure(description: JSONWriter.text(of: answer)) }
      }
    }
  }

  /// Returns the KiB before and after each trim that the log reports.
  private func trims(_ desk: Desk) -> [(before: Int, after: Int)] {
    desk.logs.matches(of: /A burst is over: memory (\d+) KiB, after the free part went back (\d+) KiB/).compactMap {
      guard let before = Int($0.1), let after = Int($0.2) else { return nil }
      return (before, after)
    }
  }
}
