import Foundation
import Glibc
import JSONRPC
import Testing

/// Instances whose stored rows do not open. Needs root to become other users.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct QuarantineTests {
  private func run(_ desk: Desk, _ name: String, _ arguments: [String]) throws -> String {
    let out = desk.folder.appendingPathComponent("out-\(UUID().uuidString)")
    let program = try Program(name, arguments, output: out, log: out.appendingPathExtension("err"))
    guard program.exit(within: 60) == 0 else { throw Program.Failure(description: program.logText) }
    return try String(contentsOf: out, encoding: .utf8)
  }

  @Test("Admins see a quarantined instance in sdkctl list, others do not, and calls on it say so")
  func quarantinedInstancesAreListed() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for id in ["a", "b", "c"] { try desk.create(id, on: line, access: ["control": ["uid:1002"]]) }
    #expect(desk.stop() == 0)
    let script =
      "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); "
      + "d.execute(\"UPDATE instance SET definition = zeroblob(64) WHERE id = 'b'\"); d.commit()"
    _ = try run(desk, "/usr/bin/python3", ["-c", script, desk.state.appendingPathComponent("state.db").path])
    try desk.start()

    let again = try desk.connect()
    let listed = try again.call("instance.list")["instances"]?.arrayValue ?? []
    #expect(listed.compactMap { $0["instance"]?.stringValue } == ["a", "b", "c"])
    #expect(listed.compactMap { $0["state"]?.stringValue } == ["noUser", "quarantined", "noUser"])
    #expect(listed[1]["lastError"]?["reason"] == "instanceQuarantined")
    let row = try run(desk, "sdkctl", ["--socket", desk.socket, "list"]).split(separator: "\n").first {
      $0.contains("quarantined")
    }
    #expect(row?.hasPrefix("b") == true)
    for method in ["instance.get", "token.get", "session.open", "storage.list", "messaging.logoutUser"] {
      #expect(try again.failure(method, ["instance": "b"]).reason == "instanceQuarantined", "\(method)")
      #expect(try Caller(uid: 1002).reason(desk, method, ["instance": "b"]) == "instanceNotFound", "\(method)")
    }
    let seen = try Caller(uid: 1002).call(desk, "instance.list")["result"]?["instances"]?.arrayValue ?? []
    #expect(seen.compactMap { $0["instance"]?.stringValue } == ["a", "c"])
    #expect(try again.failure("instance.delete", ["instance": "b", "logout": true]).reason == "instanceQuarantined")
    try again.call("instance.delete", ["instance": "b"])
    #expect(try again.call("instance.list")["instances"]?.arrayValue?.count == 2)
  }
}
