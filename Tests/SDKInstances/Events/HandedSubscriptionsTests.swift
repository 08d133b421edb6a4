import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// The hand-over of a connection's subscriptions and attachments to the next daemon.
struct HandedSubscriptionsTests {
  /// A state as any version of the daemon writes it.
  private static let state: JSON = [
    "subscriptions": [
      "made": 3,
      "items": [
        [
          "name": "s1", "instances": ["desk", "front"], "labels": ["floor": "1"], "types": ["userLoggedIn"],
          "cursor": "c1", "lastCursor": "c0", "isPaused": false,
        ],
        ["name": "s3", "labels": [:], "isPaused": true],
      ],
    ],
    "attachments": [
      ["instance": "desk", "uuid": "u", "timeout": 2.5, "order": "18446744073709551615"],
      ["instance": "front", "uuid": "v", "order": "1"],
    ],
  ]

  /// Returns the state with another value of a member of its first subscription.
  private static func state(_ member: String, _ value: JSON) -> JSON {
    guard var item = state["subscriptions"]?["items"]?.arrayValue?.first?.objectValue else { return .null }
    item[member] = value
    return ["subscriptions": ["made": 1, "items": [.object(item)]], "attachments": []]
  }

  @Test("A state is read and written in the form of former versions")
  func form() throws {
    let session = try #require(HandedSession(Self.state))
    #expect(session.json == Self.state)
    #expect(session.subscriptions.items.map(\.types) == [[.userLoggedIn], nil])
    #expect(session.attachments.map(\.timeout) == [2.5, nil])
  }

  @Test(
    "A state with a filter that is not understood is not read",
    arguments: [
      ("instances", "desk"), ("instances", ["desk", 1]), ("types", ["unknown"]), ("types", "userLoggedIn"),
      ("labels", ["floor": 1]), ("labels", []), ("isPaused", "no"), ("name", 1),
    ] as [(String, JSON)])
  func unknownFilter(member: String, value: JSON) {
    #expect(HandedSession(Self.state("isPaused", true)) != nil)
    #expect(HandedSession(Self.state(member, value)) == nil)
  }

  @Test("Cursors that are kept are those of their places")
  func cursors() {
    let (coder, other) = (InMemoryStateStore().cursors, InMemoryStateStore().cursors)
    let places = [EventPlace(1), EventPlace(1), EventPlace(1, acknowledged: 1), EventPlace(1, losses: 1)]
    var (written, read) = (HandedCursors(coder), HandedCursors(coder))
    let cursors = places.map { written.cursor(of: $0) }
    #expect(cursors[0] == cursors[1])
    #expect(Set(cursors).count == 3)
    for (cursor, place) in zip(cursors + cursors, places + places) {
      let known = read.place(of: cursor)
      #expect(known == place)
      #expect(coder.read(cursor) == .place(place))
    }
    for foreign in [other.encode(EventPlace(1)), "no cursor", ""] {
      let unknown = read.place(of: foreign)
      #expect(unknown == nil)
      let known = read.place(of: cursors[0])
      #expect(known == places[0])
    }
  }

  @Test("Adopted subscriptions deliver each event once, those of the meantime too")
  func delivery() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let former = [world.session(), world.session(uid: 7), world.session()]
      for session in former { _ = try await world.call("events.subscribe", on: session).get() }
      var states: [JSON] = []
      for session in former { states.append(try #require(await world.gateway.handOver(session))) }
      #expect(await world.hub.standing.subscriptions == 0)
      let next = [world.session(), world.session(uid: 7), world.session()]
      await world.gateway.adopt(states[0], next[0])
      await world.gateway.adopt(states[1], next[1])
      try await desk.signIn("alice#1")
      await world.gateway.adopt(states[2], next[2])
      try await desk.signIn("alice#2")
      let links = (former + next).compactMap { $0.link as? FakeLink }
      let both = ["userLoggedIn", "userLoggedIn"]
      let expected: [[String]] = [[], [], [], both, [], both]
      try await eventually("all are delivered") { links.map(\.eventTypes) == expected }
      #expect(links.allSatisfy { $0.notifications("events.gap").isEmpty })
      let name = try await world.call("events.subscribe", on: next[0]).get()["subscription"]
      #expect(name == "s2")
      withExtendedLifetime((former, next)) {}
    }
  }

  @Test("Subscriptions that are adopted before the state can be used deliver the events of the meantime later")
  func degradedStart() async throws {
    let clock = ManualClock()
    let store = InMemoryStateStore(clock: { clock.now })
    var state = JSON.null
    try await World.run(store: store) { world in
      let desk = try await world.instance()
      let session = world.session()
      _ = try await world.call("events.subscribe", on: session).get()
      state = try #require(await world.gateway.handOver(session))
      try await desk.signIn("alice#1")
    }
    try await World.run(store: store, isReady: false, restores: false) { world in
      let session = world.session()
      let link = try #require(session.link as? FakeLink)
      await world.gateway.adopt(state, session)
      try await eventually("the store was read") { await world.hub.phases == [.live] }
      try await world.host.restore()
      #expect(await world.hub.phases == [.waiting])
      await world.host.serve()
      try await eventually("the event is delivered") { link.eventTypes.contains("userLoggedIn") }
      #expect(link.eventTypes.count { $0 == "userLoggedIn" } == 1)
      #expect(link.notifications("events.gap").isEmpty)
    }
  }
}

extension EventHub {
  fileprivate var phases: [Subscription.Phase] { table.all.map(\.phase) }
}
