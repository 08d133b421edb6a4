import Foundation
import JSONRPC
import Testing

/// Events: in order, without loss or repetition, across restarts.
@Suite struct EventTests {
  @Test func theReplyPrecedesTheFirstEvent() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for number in 0..<5 { try desk.create("i\(number)", on: line) }
    let start = try line.call("events.list", ["limit": 1])["cursor"] ?? .null
    line.send(
      "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"events.subscribe\",\"params\":{\"since\":\(JSONWriter.text(of: start))}}\n"
    )
    let first = try line.json()
    #expect(first?["id"] == "s")
    #expect(first?["result"]?["subscription"]?.stringValue != nil)
    let replayed = try (1..<5).map { _ in try line.notification("events.event")["event"]?["instance"]?.stringValue }
    #expect(replayed == ["i1", "i2", "i3", "i4"])
    try desk.create("later", on: line)
    #expect(try line.notification("events.event")["event"]?["instance"] == "later")
  }

  @Test func aCursorSurvivesARestart() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("one", on: line)
    let cursor = try line.call("events.list")["cursor"] ?? .null
    try desk.create("two", on: line)
    try desk.crash()
    let next = try desk.connect()
    try next.call("events.subscribe", ["since": cursor])
    #expect(try next.notification("events.event")["event"]?["instance"] == "two")
    try desk.create("three", on: next)
    #expect(try next.notification("events.event")["event"]?["instance"] == "three")
  }

  @Test func aForeignCursorGivesAGapAndResumes() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("one", on: line)
    let foreign = JSON.string(String(repeating: "A", count: 32))
    let name = try line.call("events.subscribe", ["since": foreign])["subscription"] ?? .null
    let gap = try line.notification("events.gap")
    #expect(gap["subscription"] == name)
    try line.call("events.resume", ["subscription": name, "since": gap["resume"] ?? .null])
    #expect(try line.notification("events.event")["event"]?["instance"] == "one")
  }

  @Test("An observer of a deletion no longer finds the instance")
  func theInstanceIsGoneBeforeItsLastEvent() throws {
    let desk = try Desk.open()
    let (line, observer) = (try desk.connect(), try desk.connect())
    try observer.call("events.subscribe", ["types": ["instanceDeleted"]])
    let others = try (0..<4).map { _ in try desk.connect() }
    for _ in 0..<50 {
      try desk.create("desk", on: observer)
      // While all threads have work, a registry that is changed after the event is changed late.
      for other in others { for _ in 0..<10 { _ = other.begin("daemon.metrics") } }
      let deletion = line.begin("instance.delete", ["instance": "desk"])
      _ = try observer.notification("events.event")
      #expect(try observer.failure("instance.get", ["instance": "desk"]).reason == "instanceNotFound")
      _ = try line.answer(deletion)
      for other in others { for _ in 0..<10 { _ = try other.json() } }
    }
  }

  @Test func filtersAndUnsubscribing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("one", on: line)
    try desk.create("two", on: line)
    let name =
      try line.call("events.subscribe", ["instances": ["two"], "types": ["userLoggedIn"]])["subscription"] ?? .null
    for id in ["one", "two"] {
      try line.call("messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint("alice"))])
    }
    let event = try line.notification("events.event")["event"]
    #expect(event?["instance"] == "two")
    #expect(event?["type"] == "userLoggedIn")
    try line.call("events.unsubscribe", ["subscription": name])
    try line.call("messaging.logoutUser", ["instance": "two"])
    try line.call("daemon.info")
    #expect(line.notifications.isEmpty)
    #expect(try line.failure("events.unsubscribe", ["subscription": name]).code == -32602)
    #expect(try line.failure("events.subscribe", ["types": ["userLogedIn"]]).data["member"] == "types[0]")
  }

  @Test func listsArePaged() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for number in 0..<7 { try desk.create("i\(number)", on: line) }
    var seen: [String] = []
    var since: JSON?
    repeat {
      var params: JSONObject = ["limit": 3]
      params["since"] = since
      let page = try line.call("events.list", .object(params))
      seen += page["events"]?.arrayValue?.compactMap { $0["instance"]?.stringValue } ?? []
      since = page["next"]
    } while since != nil
    #expect(seen == (0..<7).map { "i\($0)" })
    let first = try line.call("instance.list", ["limit": 4])
    #expect(first["instances"]?.arrayValue?.count == 4)
    let rest = try line.call("instance.list", ["after": first["next"] ?? .null])
    #expect(rest["instances"]?.arrayValue?.compactMap { $0["instance"]?.stringValue } == ["i4", "i5", "i6"])
    #expect(rest["next"] == nil)
  }

  @Test func subscribersAreToldBeforeTheEnd() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try line.call("events.subscribe")
    desk.daemon?.signal(SIGTERM)
    #expect(try line.notification("daemon.closing")["graceSeconds"]?.doubleValue != nil)
    #expect(desk.daemon?.exit(within: 30) == 0)
  }
}
