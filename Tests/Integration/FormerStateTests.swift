import Foundation
import JSONRPC
import Testing

/// States that former releases wrote, opened by this one. `Fixtures/make-state` records them.
@Suite struct FormerStateTests {
  private static let signedIn: [(instance: String, service: String?)] = [
    ("messaging", nil), ("support", nil), ("service", "cases"), ("chat", nil), ("edna", nil),
  ]

  private func desk() throws -> (desk: Desk, environment: [String: String]) {
    try Desk.recorded(
      "state-0.1.0", files: ["state.db", "root.key", "backups/recorded.db"], secondsLater: 60)
  }

  private func params(_ instance: String, _ service: String?) -> JSON {
    var params: JSONObject = ["instance": .string(instance)]
    params["service"] = service.map(JSON.string)
    return .object(params)
  }

  @Test("A state of 0.1.0 keeps its users, tokens, values, push registrations, deliveries and events")
  func aFormerStateIsKept() throws {
    let (desk, environment) = try desk()
    try desk.start(environment: environment)
    let line = try desk.connect()
    let instances = try #require(try line.call("instance.list")["instances"]?.arrayValue)
    #expect(
      instances.compactMap { $0["instance"]?.stringValue } == [
        "chat", "edna", "empty", "messaging", "service", "support",
      ])
    let tokenIds = try String(
      contentsOf: Desk.fixture("state-0.1.0").appendingPathComponent("token-ids"), encoding: .utf8
    )
    .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    for (instance, service) in Self.signedIn {
      let token = try line.call("token.get", params(instance, service))
      let recorded = tokenIds.first { $0.first == instance }?.last
      #expect(token["tokenId"]?.stringValue == recorded, "\(instance)")
      #expect(token["fromCache"] == true, "\(instance)")
      #expect(try line.call("instance.currentUser", params(instance, service))["authenticated"] == true, "\(instance)")
      let value = try line.call("storage.get", ["instance": .string(instance), "key": "draft"])["value"]
      #expect(value == ["text": .string("of \(instance)"), "n": 1], "\(instance)")
    }
    let chat = try line.call("instance.currentUser", params("service", "chat"))
    let cases = try line.call("instance.currentUser", params("service", "cases"))
    #expect(chat["authenticated"] == true && chat["id"] != cases["id"])
    #expect(try line.call("instance.currentUser", params("empty", nil))["authenticated"] == false)
    for instance in ["messaging", "support", "service"] {
      let pushes = try line.call("push.list", ["instance": .string(instance)])["pushes"]?.arrayValue
      #expect(pushes?.count == 1 && pushes?.first?["orphaned"] == false, "\(instance)")
    }
    let pending = try #require(try line.call("instance.get", ["instance": "service"])["pending"]?.arrayValue)
    #expect(pending.count == 1)
    #expect(instances.first { $0["instance"] == "messaging" }?["labels"] == ["floor": "1"])
    let events = try line.call("events.list", ["limit": 500])["events"]?.arrayValue ?? []
    let logins = events.filter { $0["type"] == "userLoggedIn" }.compactMap { $0["instance"]?.stringValue }
    #expect(Set(logins) == ["messaging", "support", "service", "chat", "edna"])
    #expect(try line.call("daemon.health")["status"] == "ok")

    // The state also works after a write and another start.
    try line.call("storage.put", ["instance": "edna", "key": "later", "value": 1])
    #expect(desk.stop() == 0)
    try desk.start(environment: environment)
    let next = try desk.connect()
    #expect(try next.call("storage.get", ["instance": "edna", "key": "later"])["value"] == 1)
    #expect(try next.call("instance.get", ["instance": "messaging"])["state"] == "authenticated")
  }

  @Test("A backup of 0.1.0 is restored")
  func aFormerBackupIsRestored() throws {
    let (desk, environment) = try desk()
    let program = try Program(
      "sdkctl", ["restore", "recorded", "--state", desk.state.path],
      output: desk.folder.appendingPathComponent("restored"), log: desk.folder.appendingPathComponent("restore-log"))
    #expect(program.exit(within: 60) == 0, "\(program.logText)")
    try desk.start(environment: environment)
    let line = try desk.connect()
    #expect(try line.call("instance.list")["instances"]?.arrayValue?.count == 6)
    #expect(try line.call("instance.get", ["instance": "messaging"])["state"] == "authenticated")
    let value = try line.call("storage.get", ["instance": "support", "key": "draft"])["value"]
    #expect(value == ["text": "of support", "n": 1])
  }
}
