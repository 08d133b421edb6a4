import Foundation
import JSONRPC
import Testing

/// A daemon that is replaced with SIGUSR2 keeps the batches of its connections.
@Suite struct BatchHandOverTests {
  private let desk: Desk
  private let line: Line

  /// Signs alice in, with a provider that hangs when it is asked first.
  init() throws {
    desk = try Desk.openForDrain()
    line = try desk.connect()
    let provider = try desk.provider(
      """
      cd '\(desk.folder.path)'
      [ ! -e asked ] || exec '\(Program.path("sdk-sandbox"))' mint --external-id "$SDKD_EXTERNAL_ID" --ttl 90000
      touch asked
      exec sleep 600
      """)
    let slow = (provider.objectValue ?? [:]).merged(with: ["timeout": "10m"])
    try desk.create("desk", on: line, settings: Desk.lazy, provider: .object(slow))
    try desk.logIn(on: line)
  }

  private static func member(_ id: String?, _ method: String, _ params: JSONObject = [:]) -> JSON {
    let params = (["instance": "desk"] as JSONObject).merged(with: params)
    var message: JSONObject = ["jsonrpc": "2.0", "method": .string(method), "params": .object(params)]
    message["id"] = id.map(JSON.string)
    return .object(message)
  }

  /// A member that waits for the provider.
  private static func token(_ id: String) -> JSON { member(id, "token.get", ["minTTL": 7200]) }

  /// Returns the members of the next message, which is the answer to a batch, by their ids.
  private func answers() throws -> [String: JSON] {
    let members = try #require(try line.json()?.arrayValue)
    let pairs = members.map { ($0["id"]?.stringValue ?? "", $0) }
    return Dictionary(pairs) { one, _ in
      Issue.record("a member is answered twice")
      return one
    }
  }

  /// Checks that nothing is sent before the answer to one more call.
  private func expectQuiet() throws {
    let call = line.begin("daemon.info")
    #expect(try line.json()?["id"]?.intValue == call)
  }

  @Test("A batch of reads, some of which wait for a provider, is answered once and completely by the next daemon")
  func readsAreAnswered() throws {
    line.send(message: [Self.token("a"), Self.member("list", "storage.list"), Self.token("b"), 1])
    try desk.waits(for: "asked")
    try desk.replace()
    let answers = try answers()
    #expect(Set(answers.keys) == ["a", "b", "list", ""])
    #expect(answers["a"]?["result"]?["token"] != nil)
    #expect(answers["b"]?["result"]?["token"] == answers["a"]?["result"]?["token"])
    #expect(answers["list"]?["result"] != nil)
    #expect(answers[""]?["error"]?["data"]?["reason"] == "invalidRequest")
    try expectQuiet()
  }

  @Test("A write that has run does not run again with its batch, which is answered once")
  func writesRunOnce() throws {
    let other = try desk.connect()
    line.send(message: [
      Self.member("write", "storage.put", ["key": "k", "value": "first"]), Self.token("token"),
      Self.member(nil, "storage.put", ["key": "note", "value": "first"]),
    ])
    try desk.waits(for: "asked")
    for key in ["k", "note"] {
      let params: JSONObject = ["instance": "desk", "key": .string(key)]
      try eventually("\(key) is stored") { try other.call("storage.get", .object(params))["value"] == "first" }
      try other.call("storage.put", .object(params.merged(with: ["value": "second"])))
    }
    try desk.replace()
    let answers = try answers()
    #expect(answers.count == 2)
    #expect(answers["write"]?["result"] == [:])
    #expect(answers["token"]?["result"]?["token"] != nil)
    for key in ["k", "note"] {
      #expect(try line.call("storage.get", ["instance": "desk", "key": .string(key)])["value"] == "second")
    }
    try expectQuiet()
  }

  @Test("A batch waits through two replacements")
  func travelsTwice() throws {
    line.send(message: [Self.member("write", "storage.put", ["key": "k", "value": 1]), Self.token("token")])
    try desk.waits(for: "asked")
    try FileManager.default.removeItem(at: desk.folder.appendingPathComponent("asked"))
    try desk.replace()
    try desk.waits(for: "asked")
    try desk.replace()
    let answers = try answers()
    #expect(answers["write"]?["result"] == [:])
    #expect(answers["token"]?["result"]?["token"] != nil)
    try expectQuiet()
  }

  @Test("A batch that has subscribed is answered at once, before the events")
  func subscriptionsAreAnswered() throws {
    line.send(message: [
      ["jsonrpc": "2.0", "id": "events", "method": "events.subscribe", "params": ["types": ["instanceUpdated"]]],
      Self.token("token"),
    ])
    try desk.waits(for: "asked")
    try desk.connect().call("instance.update", ["instance": "desk", "labels": ["n": "1"]])
    try desk.replace()
    let answers = try answers()
    #expect(answers["events"]?["result"]?["subscription"] != nil)
    #expect(answers["token"]?["error"]?["data"]?["reason"] == "shuttingDown")
    let event = try line.notification("events.event")["event"]
    #expect(event?["type"] == "instanceUpdated")
  }
}
