import Foundation
import Glibc
import JSONRPC
import Testing

/// The delivery of events through broken connections, slow readers and restarts of the daemon.
@Suite struct EventReplayTests {
  @Test func everyFollowerGetsTheWholeLogOnceWhateverHappens() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for number in 0..<4 { try desk.create("desk-\(number)", on: line) }
    let start = try #require(try line.call("events.list")["cursor"]?.stringValue)
    let followers = (1...10).map { EventFollower(desk.socket, since: start, number: $0) }
    let writers = (0..<4).map { EventWriter(desk.socket, instance: "desk-\($0)", times: 120) }
    defer { for follower in followers { follower.stop() } }
    for step in 1...4 {
      try eventually("the writers have come on", within: 120) { writers.map(\.count).reduce(0, +) >= 90 * step }
      if step.isMultiple(of: 2) {
        try desk.crash()
      } else {
        #expect(desk.stop() == 0)
        try desk.start()
      }
    }
    for writer in writers { writer.wait() }
    let log = try desk.cursors(after: start, on: try desk.connect())
    // A change that was acknowledged has its event; one that was not may have.
    #expect(log.count >= 480 && Set(log).count == log.count)
    try eventually("all have all", within: 120) { followers.allSatisfy { $0.cursors.count >= log.count } }
    for follower in followers {
      #expect(follower.cursors == log)
      #expect(follower.complaint == nil)
      #expect(follower.connectionCount > 5)
    }
  }

  @Test func whoStopsReadingCostsTheOthersNothing() throws {
    let (count, stoppedCount, rounds) = (3000, 50, 6)
    // The long `write_timeout` keeps the connections that do not read, however long the others take.
    let desk = try Desk.open(
      configuration: """
        [events]
        retention = { age = "7d", count = 10000 }
        [limits]
        write_timeout = "1h"
        """)
    let line = try desk.connect()
    for number in 0..<4 { try desk.create("desk-\(number)", on: line) }
    let start = try #require(try line.call("events.list")["cursor"]?.stringValue)
    func subscriber() throws -> Line {
      let line = try desk.connect()
      try line.call("events.subscribe", ["since": .string(start)])
      return line
    }
    let stopped = try (0..<stoppedCount).map { _ in try subscriber() }
    let drain = EventDrain(try (stoppedCount..<200).map { _ in try subscriber() })
    defer { drain.stop() }
    let before = try desk.residentBytes()
    for round in 1...rounds {
      let writers = (0..<4).map { EventWriter(desk.socket, instance: "desk-\($0)", times: count / rounds / 4) }
      for writer in writers { writer.wait() }
      // Waiting for the readers after each round keeps them from falling behind by more than a connection's backlog.
      try eventually("those who read have all", within: 400) { drain.fewest >= count / rounds * round }
    }
    let log = try desk.cursors(after: start, on: line)
    #expect(log.count == count)
    #expect(drain.cursors.allSatisfy { $0 == log })
    // The backlog of the connections that do not read is bounded, however many events there are.
    #expect(try desk.residentBytes() - before < 160 << 20)
    for line in stopped {
      var seen: [String] = []
      while true {
        let message = try #require(try line.json(within: 60))
        if let cursor = message["params"]?["event"]?["cursor"]?.stringValue {
          seen.append(cursor)
        } else if message["method"] == "events.gap" {
          #expect(message["params"]?["from"]?.stringValue == seen.last)
          let resume: JSON = ["subscription": "s1", "since": message["params"]?["resume"] ?? .null]
          line.begin("events.resume", resume)
          break
        }
      }
      #expect(seen.count < count)
      while seen.count < count {
        let message = try #require(try line.json(within: 60))
        #expect(message["method"] != "events.gap")
        if let cursor = message["params"]?["event"]?["cursor"]?.stringValue { seen.append(cursor) }
      }
      #expect(seen == log)
    }
  }

  @Test func aLongReplayKeepsPaceWithItsReader() throws {
    let desk = try Desk.open(configuration: "[events]\nretention = { age = \"7d\", count = 10000 }\n")
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let start = try #require(try line.call("events.list")["cursor"]?.stringValue)
    EventWriter(desk.socket, instance: "desk", times: 4000).wait()
    let reader = try desk.connect()
    reader.begin("events.subscribe", ["since": .string(start)])
    // The replay is far larger than a connection's backlog, and the subscriber does not read for a while.
    try line.call("daemon.info")
    var seen: [String] = []
    while seen.count < 4000 {
      let message = try #require(try reader.json(within: 60))
      #expect(message["method"] != "events.gap")
      if let cursor = message["params"]?["event"]?["cursor"]?.stringValue { seen.append(cursor) }
    }
    #expect(try desk.cursors(after: start, on: line) == seen)
  }
}

extension Desk {
  /// Returns the cursors of all events after `start`, as `events.list` gives them.
  func cursors(after start: String, on line: Line) throws -> [String] {
    var (since, found): (String?, [String]) = (start, [])
    while let place = since {
      let page = try line.call("events.list", ["since": .string(place), "limit": 500])
      found += page["events"]?.arrayValue?.compactMap { $0["cursor"]?.stringValue } ?? []
      since = page["next"]?.stringValue
    }
    return found
  }

  /// Returns the resident memory of the daemon in bytes.
  func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(daemon?.pid ?? 0)/statm", encoding: .utf8)
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
  }
}
