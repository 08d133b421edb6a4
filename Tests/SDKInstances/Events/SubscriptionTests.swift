import Doubles
import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import StateStore

struct SubscriptionTests {
  private func subscribe(_ world: World, _ session: ClientSession, _ params: JSON = [:]) async throws -> JSON {
    try await world.call("events.subscribe", params, on: session).get()
  }

  /// A cursor that the store of another state issued.
  private var foreignCursor: String { InMemoryStateStore().cursors.encode(1) }

  private func link(_ session: ClientSession) throws -> FakeLink { try #require(session.link as? FakeLink) }

  private func event(_ desk: HostedInstance, _ position: UInt64) -> StoredEvent {
    StoredEvent(
      position: position, uuid: desk.uuid, id: desk.id, kind: desk.kind, time: ManualClock.start,
      type: .settingsUpdated,
      data: ["n": JSON(Int(position))])
  }

  @Test func `Subscriptions are limited by connection, by user, for all strangers and in all`() async throws {
    var limits = SubscriptionLimits()
    (limits.perConnection, limits.perUser, limits.total) = (2, 3, 8)
    try await World.run(limits: limits) { world in
      func session(_ uid: UInt32, of user: UInt32? = nil, isStranger: Bool = false) -> ClientSession {
        ClientSession(link: FakeLink(peer: Peer(pid: 1, uid: uid, gid: 9, user: user), isStranger: isStranger))
      }
      func message(_ session: ClientSession) async -> String? {
        await world.call("events.subscribe", on: session).error.map {
          #expect($0.reason == "tooManySubscriptions")
          return $0.message
        }
      }
      let one = session(7)
      for _ in 0..<2 { #expect(await message(one) == nil) }
      #expect(await message(one)?.hasPrefix("A connection has at most 2") == true)
      // Another uid of the same user.
      let subordinate = session(100_001, of: 7)
      #expect(await message(subordinate) == nil)
      #expect(await message(subordinate)?.hasPrefix("All connections of a user have at most 3") == true)
      let strangers = [session(8, isStranger: true), session(9, isStranger: true)]
      for stranger in strangers { #expect(await message(stranger) == nil) }
      #expect(await message(strangers[0])?.hasPrefix("All callers without a role have at most 2") == true)
      let others = (10...13).map { session($0) }
      for other in others[..<3] { #expect(await message(other) == nil) }
      #expect(await message(others[3])?.hasPrefix("All users together have at most 8") == true)
      let admin = session(0)
      #expect(await message(admin) == nil)
      for ended in [strangers[0], one] { await world.gateway.endSubscriptionsAndDelegates(of: ended) }
      let next = session(14, isStranger: true)
      #expect(await message(next) == nil)
      withExtendedLifetime((one, subordinate, strangers, others, admin)) {}
    }
  }

  @Test func `Events come in the order of their positions, whatever the order of the commits`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = world.session()
      _ = try await subscribe(world, session)
      let link = try link(session)
      world.hub.append([event(desk, 4)])
      world.hub.append([event(desk, 2)])
      try await eventually("the first is delivered") { link.eventTypes.count == 1 }
      world.hub.append([event(desk, 3), event(desk, 3), event(desk, 2)])
      try await eventually("all are delivered") { link.eventTypes.count >= 3 }
      let order = link.notifications("events.event").compactMap { $0["event"]?["data"]?["n"]?.intValue }
      #expect(order == [2, 3, 4])
    }
  }

  @Test func `An event that is reported late reaches a subscription that was made before it`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await eventually("the creation is delivered") { await world.hub.told == 1 }
      world.hub.append([event(desk, 3)])
      let session = world.session()
      _ = try await subscribe(world, session)
      let link = try link(session)
      world.hub.append([event(desk, 2)])
      try await eventually("both are delivered") { link.eventTypes.count == 2 }
    }
  }

  @Test func `A subscription made while its connection ended is forgotten at the next event`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = world.session()
      _ = try await subscribe(world, session)
      let link = try link(session)
      link.close()
      world.hub.append([event(desk, 2)])
      try await eventually("it is forgotten") { await world.hub.standing.subscriptions == 0 }
      #expect(link.eventTypes.isEmpty)
    }
  }

  @Test func `The reply goes out before the first event`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = world.session()
      guard case .run(let call) = world.accept("events.subscribe", [:], on: session) else {
        Issue.record("answered at once")
        return
      }
      let reply = try await call.run().get()
      try await desk.signIn("alice#1")
      for _ in 0..<200 { await Task.yield() }
      let link = try link(session)
      #expect(link.sent.isEmpty)
      call.answered()
      try await eventually("the event is delivered") { link.eventTypes == ["userLoggedIn"] }
      let name = try JSONParser.parse(reply)["subscription"]
      #expect(link.notifications("events.event").first?["subscription"] == name)
    }
  }

  @Test func `A cursor replays what came after it, without loss or repetition, while more happens`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      for index in 0..<100 { try await desk.signIn("alice#\(index)") }
      let all = try await world.store.events(after: 0, limit: 1000)
      let from = all[40].position
      let session = world.session()
      let more = Task { for index in 100..<200 { try await desk.signIn("alice#\(index)") } }
      _ = try await subscribe(world, session, ["since": .string(world.store.cursors.encode(from))])
      try await more.value
      let link = try link(session)
      let expected = try await world.store.events(after: from, limit: 1000).map {
        world.store.cursors.encode($0.position)
      }
      try await eventually("all are delivered") { link.eventTypes.count >= expected.count }
      #expect(link.notifications("events.event").compactMap { $0["event"]?["cursor"]?.stringValue } == expected)
    }
  }

  @Test func `A long replay reads from disk and goes over into what happens`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      for index in 0..<700 { try await desk.signIn("alice#\(index)") }
      let session = world.session()
      _ = try await subscribe(world, session, ["since": .string(world.store.cursors.encode(0))])
      let link = try link(session)
      try await eventually("the past is delivered") { link.eventTypes.count == 701 }
      try await desk.signOut()
      try await eventually("the present is delivered") {
        link.eventTypes.suffix(2) == ["userLoggedOut", "identityWiped"]
      }
      #expect(link.eventTypes.count == 703)
    }
  }

  @Test func `A cursor of another state begins with a gap, and resuming goes on`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let session = world.session()
      let made = try await subscribe(world, session, ["since": .string(foreignCursor)])
      let link = try link(session)
      try await eventually("the gap is told") { link.notifications("events.gap").count == 1 }
      let gap = try #require(link.notifications("events.gap").first)
      #expect(gap["from"] == nil)
      try await desk.signIn("alice#2")
      #expect(link.eventTypes == [])
      let resume: JSON = ["subscription": made["subscription"] ?? nil, "since": gap["resume"] ?? nil]
      #expect(await world.call("events.resume", resume, on: world.session()).reason == "invalidParams")
      #expect(await world.call("events.resume", resume, on: session).value == [:])
      try await eventually("all are delivered") {
        link.eventTypes == ["instanceCreated", "userLoggedIn", "userLoggedIn"]
      }
    }
  }

  @Test func `A cursor older than what is kept begins with a gap from there`() async throws {
    let clock = ManualClock()
    let store = InMemoryStateStore(clock: { clock.now }, retention: EventRetention(maxCountPerInstance: 3))
    try await World.run(store: store) { world in
      let desk = try await world.instance()
      for index in 0..<9 { try await desk.signIn("alice#\(index)") }
      await store.applyRetention()
      let session = world.session()
      let since = store.cursors.encode(2)
      let made = try await subscribe(world, session, ["since": .string(since)])
      let link = try link(session)
      try await eventually("the gap is told") { link.notifications("events.gap").count == 1 }
      let gap = try #require(link.notifications("events.gap").first)
      #expect(gap["from"]?.stringValue == since)
      let resume: JSON = ["subscription": made["subscription"] ?? nil, "since": gap["resume"] ?? nil]
      #expect(await world.call("events.resume", resume, on: session).value == [:])
      try await eventually("what is kept is delivered") { link.eventTypes.count == 3 }
    }
  }

  @Test func `A subscriber that does not read is paused alone, and misses nothing after resuming`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let (slow, quick) = (world.session(), world.session())
      let made = try await subscribe(world, slow)
      _ = try await subscribe(world, quick)
      let (slowLink, quickLink) = (try link(slow), try link(quick))
      try await desk.signIn("alice#1")
      try await eventually("both are told") { slowLink.eventTypes.count == 1 && quickLink.eventTypes.count == 1 }
      slowLink.clog(EventHub.maximumUnsentBytes)
      for index in 2..<6 { try await desk.signIn("alice#\(index)") }
      try await eventually("the quick one is told all") { quickLink.eventTypes.count == 5 }
      #expect(slowLink.eventTypes.count == 1)
      #expect(slowLink.notifications("events.gap").count == 1)
      let standing = await world.hub.standing
      #expect(standing.gaps == 1 && standing.paused == 1 && standing.lag == 0)
      slowLink.clog(0)
      let gap = try #require(slowLink.notifications("events.gap").first)
      #expect(gap["from"] == slowLink.notifications("events.event").last?["event"]?["cursor"])
      let resume: JSON = ["subscription": made["subscription"] ?? nil, "since": gap["resume"] ?? nil]
      #expect(await world.call("events.resume", resume, on: slow).value == [:])
      try await eventually("the slow one has caught up") { slowLink.eventTypes.count == 5 }
      func cursors(_ link: FakeLink) -> [String] {
        link.notifications("events.event").compactMap { $0["event"]?["cursor"]?.stringValue }
      }
      #expect(cursors(slowLink) == cursors(quickLink))
    }
  }

  @Test func `Only who may see an instance is told, and no longer than that`() async throws {
    try await World.run { world in
      let shown = try await world.instance("shown", access: AccessRules(observe: [try #require(AccessRule("uid:7"))]))
      let hidden = try await world.instance("hidden")
      let (observer, admin) = (world.session(uid: 7), world.session())
      _ = try await subscribe(world, observer)
      _ = try await subscribe(world, admin)
      let (link, adminLink) = (try link(observer), try link(admin))
      try await hidden.signIn("alice#1")
      try await shown.signIn("bob#1")
      try await eventually("the admin is told both") { adminLink.eventTypes.count == 2 }
      #expect(link.notifications("events.event").compactMap { $0["event"]?["instance"]?.stringValue } == ["shown"])
      _ = await world.call("instance.update", ["instance": "shown", "access": ["observe": nil]], on: admin)
      try await shown.signOut()
      try await eventually("the admin is told the rest") { adminLink.eventTypes.count == 5 }
      #expect(link.eventTypes == ["userLoggedIn"])
    }
  }

  @Test func `Filters hold for instances, labels and types`() async throws {
    try await World.run { world in
      let one = try await world.instance("one", labels: ["floor": "1"])
      let two = try await world.instance("two", labels: ["floor": "2"])
      let session = world.session()
      for filter in [["instances": ["one"]], ["labels": ["floor": "2"]], ["types": ["userLoggedOut"]]] as [JSON] {
        _ = try await subscribe(world, session, filter)
      }
      try await one.signIn("alice#1")
      try await two.signIn("bob#1")
      try await two.signOut()
      let link = try link(session)
      try await eventually("each is told its own") { link.eventTypes.count == 5 }
      let told = link.notifications("events.event").map {
        "\($0["subscription"]?.stringValue ?? "") \($0["event"]?["instance"]?.stringValue ?? "") \($0["event"]?["type"]?.stringValue ?? "")"
      }
      #expect(
        Set(told) == [
          "s1 one userLoggedIn", "s2 two userLoggedIn", "s2 two userLoggedOut", "s2 two identityWiped",
          "s3 two userLoggedOut",
        ])
    }
  }

  @Test func `A connection has sixteen subscriptions, and ends its own alone`() async throws {
    try await World.run { world in
      let session = world.session(uid: 7)
      var last: JSON = [:]
      for _ in 0..<16 { last = try await subscribe(world, session) }
      #expect(await world.call("events.subscribe", on: session).reason == "tooManySubscriptions")
      let params: JSON = ["subscription": last["subscription"] ?? nil]
      #expect(await world.call("events.unsubscribe", params, on: world.session()).reason == "invalidParams")
      #expect(await world.call("events.unsubscribe", params, on: session).value == [:])
      _ = try await subscribe(world, session)
      await world.gateway.endSubscriptionsAndDelegates(of: session)
      #expect(await world.hub.standing.subscriptions == 0)
    }
  }

  @Test func `The past is listed in pages, each event once`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      for index in 0..<9 { try await desk.signIn("alice#\(index)") }
      let session = world.session()
      var seen: [String] = []
      var since: String?
      repeat {
        var params: JSONObject = ["limit": 4]
        params["since"] = since.map(JSON.string)
        let page = try await world.call("events.list", .object(params), on: session).get()
        seen += (page["events"]?.arrayValue ?? []).compactMap { $0["cursor"]?.stringValue }
        since = page["next"]?.stringValue
      } while since != nil
      #expect(
        seen == (try await world.store.events(after: 0, limit: 100).map { world.store.cursors.encode($0.position) }))
      #expect(await world.call("events.list", ["since": "nonsense"], on: session).error?.data["member"] == "since")
      let typed = await world.call("events.list", ["types": ["instanceCreated"]], on: session).value
      #expect(typed?["events"]?.arrayValue?.count == 1)
    }
  }

  @Test func `What a busy instance has lost does not hide what a quiet one keeps`() async throws {
    let clock = ManualClock()
    let store = InMemoryStateStore(clock: { clock.now }, retention: EventRetention(maxCountPerInstance: 3))
    try await World.run(store: store) { world in
      _ = try await world.instance("quiet")
      let busy = try await world.instance("busy")
      for index in 0..<9 { try await busy.signIn("alice#\(index)") }
      await store.applyRetention()
      let listed = await world.call("events.list", ["instances": ["quiet"]], on: world.session()).value
      #expect(listed?["events"]?.arrayValue?.count == 1)
    }
  }
}
