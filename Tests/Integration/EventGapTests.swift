import Foundation
import Glibc
import JSONRPC
import Testing

/// The loss of events to retention, and the subscribers that get a gap.
@Suite struct EventGapTests {
  private static let retention = "[events]\nretention = { age = \"7d\", count = 6 }\n"

  private func churn(_ desk: Desk, _ instance: String, _ times: Int) {
    EventWriter(desk.socket, instance: instance, times: times).wait()
  }

  private func events(_ count: Int, on line: Line) throws -> [String] {
    try (0..<count).map { _ in try line.notification("events.event")["event"]?["instance"]?.stringValue ?? "" }
  }

  @Test func aGapIsOfWhatCouldHaveBeenSeen() throws {
    let desk = try Desk.open(configuration: Self.retention)
    let line = try desk.connect()
    for id in ["quiet", "busy"] { try desk.create(id, on: line) }
    let start = try line.call("events.list")["cursor"] ?? .null
    churn(desk, "quiet", 2)
    churn(desk, "busy", 30)
    try desk.crash()
    let next = try desk.connect()
    try next.call("events.subscribe", ["instances": ["quiet"], "since": start])
    #expect(try events(2, on: next) == ["quiet", "quiet"])
    #expect(next.notifications.isEmpty)
    #expect(try next.call("events.list", ["instances": ["quiet"], "since": start])["gap"] == nil)

    let all = try desk.connect()
    try all.call("events.subscribe", ["since": start])
    let gap = try all.notification("events.gap")
    #expect(gap["from"] == start)
    try all.call("events.resume", ["subscription": "s1", "since": gap["resume"] ?? .null])
    // Every retained event arrives, and the same loss is reported once.
    #expect(try events(8, on: all) == ["quiet", "quiet"] + Array(repeating: "busy", count: 6))
    #expect(all.notifications.isEmpty)
    let again = try desk.connect()
    try again.call("events.subscribe", ["since": gap["resume"] ?? .null])
    #expect(try events(8, on: again).first == "quiet")
    #expect(again.notifications.isEmpty)
    let listed = try again.call("events.list", ["since": start])
    #expect(listed["gap"] == true && listed["events"]?.arrayValue?.count == 8)
    #expect(try again.call("events.list", ["since": listed["cursor"] ?? .null])["gap"] == nil)
  }

  @Test(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
  func whatAHiddenInstanceDoesIsNotToldToOthers() throws {
    let desk = try Desk.open(configuration: Self.retention)
    let line = try desk.connect()
    try desk.create("shown", on: line, access: ["observe": ["uid:65534"]])
    try desk.create("hidden", on: line)
    let stranger = try StrangeLine(desk, uid: 65534)
    let cursor = try stranger.call("events.list")["cursor"] ?? .null
    churn(desk, "hidden", 30)
    churn(desk, "shown", 1)
    // Two cursors of the same position differ, so that comparing cursors does not reveal hidden events.
    #expect(try stranger.call("events.list")["cursor"] != stranger.call("events.list")["cursor"])
    try stranger.call("events.subscribe", ["since": cursor])
    #expect(try stranger.next()["params"]?["event"]?["instance"] == "shown")
    try line.call("instance.delete", ["instance": "shown"])
    #expect(try stranger.next()["params"]?["event"]?["type"] == "instanceDeleted")
    try desk.crash()
    let later = try StrangeLine(desk, uid: 65534)
    try later.call("events.subscribe", ["since": cursor])
    #expect(try later.next()["params"]?["event"]?["type"] == "instanceUpdated")
    #expect(try later.next()["params"]?["event"]?["type"] == "instanceDeleted")
    let other = try StrangeLine(desk, uid: 65533)
    #expect(try other.call("events.list")["events"] == [])
  }

  @Test(
    "Callers without admin rights also get a gap when the events of deleted instances are removed",
    .enabled(if: getuid() == 0, "needs root to start processes of other users"))
  func eventsOfDeletedInstancesAreLost() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("shown", on: line, access: ["observe": ["uid:65534"]])
    let stranger = try StrangeLine(desk, uid: 65534)
    let cursor = try stranger.call("events.list")["cursor"] ?? .null
    try line.call("instance.delete", ["instance": "shown"])
    #expect(try stranger.call("events.list", ["since": cursor])["gap"] == nil)
    // The events of the last 1,024 deleted instances are kept.
    for _ in 0..<33 {
      for number in 0..<32 { try desk.create("other-\(number)", on: line) }
      for number in 0..<32 { try line.call("instance.delete", ["instance": .string("other-\(number)")]) }
    }
    let later = try stranger.call("events.list", ["since": cursor])
    #expect(later["events"] == [] && later["gap"] == true)
    #expect(try stranger.call("events.list", ["since": later["cursor"] ?? .null])["gap"] == nil)
    try stranger.call("events.subscribe", ["since": cursor])
    #expect(try stranger.next()["method"] == "events.gap")
  }

  @Test func aCursorOfAStateThatWasReplacedIsForeign() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    desk.stop()
    let copy = desk.folder.appendingPathComponent("copy")
    try FileManager.default.copyItem(at: desk.state, to: copy)
    try desk.start()
    churn(desk, "desk", 5)
    let cursor = try desk.connect().call("events.list")["cursor"] ?? .null
    desk.stop()
    try FileManager.default.removeItem(at: desk.state)
    try FileManager.default.moveItem(at: copy, to: desk.state)
    try desk.start()
    let next = try desk.connect()
    try next.call("events.subscribe", ["since": cursor])
    let gap = try next.notification("events.gap")
    #expect(gap["from"] == nil)
    #expect(try next.failure("events.list", ["since": cursor]).data["member"] == "since")
    try next.call("events.resume", ["subscription": "s1", "since": gap["resume"] ?? .null])
    #expect(try next.notification("events.event")["event"]?["type"] == "instanceCreated")
    let follower = try Program(
      "sdkctl", ["events", "--follow", "--since", cursor.stringValue ?? ""], environment: ["SDKD_SOCKET": desk.socket],
      output: desk.folder.appendingPathComponent("followed"), log: desk.folder.appendingPathComponent("follow.err"))
    try eventually("sdkctl says why events repeat") {
      follower.logText.contains("sdkctl: the daemon's state was replaced, as by a restore: ")
    }
    follower.signal(SIGINT)
    #expect(follower.exit(within: 10) == 0)
  }

  @Test func mistakesSayWhatToDo() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for (method, params) in [
      ("events.subscribe", ["since": "not a cursor"]), ("events.list", ["since": ""]),
      ("events.resume", ["subscription": "s1", "since": "AAAA"]),
    ] as [(String, JSON)] {
      let error = try line.failure(method, params)
      #expect(error.code == -32602 && error.data["member"] == "since", "\(method)")
      #expect(error.message.contains("no cursor"))
    }
    let cursor = try line.call("events.subscribe")["cursor"] ?? .null
    let running = try line.failure("events.resume", ["subscription": "s1", "since": cursor])
    #expect(running.code == -32602 && running.message.contains("not paused"))
    // A connection can't use the subscriptions of another connection.
    let other = try desk.connect()
    for (method, params) in [
      ("events.unsubscribe", ["subscription": "s1"]), ("events.resume", ["subscription": "s1", "since": cursor]),
    ] as [(String, JSON)] {
      let error = try other.failure(method, params)
      #expect(error.data["member"] == "subscription" && error.message.contains("events.subscribe"), "\(method)")
    }
    #expect(try other.call("events.subscribe")["subscription"] == "s1")
  }

  @Test func labelsCountAtDeliveryAndLaterInstancesToo() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("one", on: line)
    try line.call("events.subscribe", ["labels": ["floor": "2"]])
    try desk.create("two", on: line)
    try line.call("instance.update", ["instance": "two", "labels": ["floor": "2"]])
    #expect(try events(1, on: line) == ["two"])
    try line.call("instance.update", ["instance": "two", "labels": ["floor": "1"]])
    try line.call("instance.update", ["instance": "one", "labels": ["floor": "2"]])
    #expect(try events(1, on: line) == ["one"])
    let listed = try line.call("events.list", ["labels": ["floor": "2"]])["events"]?.arrayValue ?? []
    #expect(listed.map { $0["instance"] } == ["one", "one"])
    #expect(line.notifications.isEmpty)
  }

  @Test func pagesStaySmall() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    churn(desk, "desk", 400)
    var since: JSON?
    var count = 0
    repeat {
      var params: JSONObject = ["limit": 500]
      params["since"] = since
      let answer = try line.answer(line.begin("events.list", .object(params)))
      #expect(JSONWriter.bytes(of: answer).count < 60 << 10)
      count += answer["result"]?["events"]?.arrayValue?.count ?? 0
      since = answer["result"]?["next"]
    } while since != nil
    #expect(count == 401)
  }
}
