import JSONRPC
import Logging
import SDKProtocol
import StateStore
import Synchronization
import Testing

@testable import DelegateBridge
@testable import SDKInstances

/// Attaching and detaching: rights, limits, events, and delegates that are expected back after their connection is
/// lost.
struct DelegateAttachTests {
  @Test func `Attaching takes control on each, and attaches all or none`() async throws {
    try await World.run { world in
      let rule = try #require(AccessRule("uid:7"))
      let mine = try await world.instance("mine", access: AccessRules(control: [rule]))
      _ = try await world.instance("seen", access: AccessRules(use: [rule]))
      _ = try await world.instance("hidden")
      let session = world.session(uid: 7)
      func reason(_ ids: JSON) async -> String? {
        let answer = await world.call("delegate.attach", ["instances": ids], on: session)
        return answer.reason
      }
      #expect(await reason(["mine", "seen"]) == "accessDenied")
      #expect(await reason(["mine", "hidden"]) == "instanceNotFound")
      #expect(await reason(["mine", "absent"]) == "instanceNotFound")
      #expect(world.delegates.attachedCount(of: mine.actor.bridgeKey(nil)) == 0)
      #expect(await reason(["mine", "mine"]) == nil)
      #expect(world.delegates.attachedCount(of: mine.actor.bridgeKey(nil)) == 1)
    }
  }

  @Test func `A hidden instance is detached as a missing one`() async throws {
    try await World.run { world in
      _ = try await world.instance("hidden")
      let stranger = world.session(uid: 7)
      for method in ["delegate.attach", "delegate.detach"] {
        func answer(_ id: String) async -> String? {
          await world.call(method, ["instances": [.string(id)]], on: stranger).error.map {
            JSONWriter.text(of: $0.json).replacing(id, with: "X")
          }
        }
        let missing = await answer("absent")
        #expect(missing?.contains("instanceNotFound") == true)
        #expect(await answer("hidden") == missing)
      }
      #expect(await world.call("delegate.detach", on: stranger).value == [:])
    }
  }

  @Test(arguments: ["600001ms" as JSON, 0.05, 0, -1, "x"]) func `The time-out has bounds`(timeout: JSON) async throws {
    try await World.run { world in
      _ = try await world.instance()
      let error = await world.call(
        "delegate.attach", ["instances": ["desk"], "timeout": timeout], on: world.session()
      ).error
      #expect(error?.reason == "invalidParams")
      #expect(error?.data["member"] == "timeout")
    }
  }

  @Test func `Attached and detached are told once each, and counted`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = world.session()
      await world.attach(session)
      await world.attach(session)
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey(nil)) == 1)
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey("chat")) == 1)
      #expect(try await world.events() == [.instanceCreated, .delegateAttached])
      await world.gateway.endSubscriptionsAndDelegates(of: session)
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey(nil)) == 0)
      await world.gateway.endSubscriptionsAndDelegates(of: session)
      #expect(try await world.events() == [.instanceCreated, .delegateAttached, .delegateDetached])
      #expect(try await world.last(.delegateDetached)?.data == [:])
    }
  }

  @Test func `An instance has at most eight delegates, a connection at most 1024 instances`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let sessions = (0..<9).map { _ in world.session() }
      for session in sessions.dropLast() { await world.attach(session) }
      let params: JSON = ["instances": ["desk"]]
      #expect(await world.call("delegate.attach", params, on: sessions[8]).reason == "tooManySubscriptions")
      #expect(await world.call("delegate.attach", params, on: sessions[0]).value == [:], "it has its seat already")
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey(nil)) == 8)
      await world.gateway.endSubscriptionsAndDelegates(of: sessions[3])
      #expect(await world.call("delegate.attach", params, on: sessions[8]).value == [:])

      var seats = DelegateSeats<ClientSession>()
      let many = (0..<1024).map { DelegatedInstance(id: desk.id, uuid: "u\($0)") }
      #expect(try seats.attach(sessions[0], to: many, timeout: .seconds(1)).count == 1024)
      #expect(try seats.attach(sessions[0], to: many, timeout: .seconds(1)).isEmpty)
      let error = #expect(throws: SDKError.self) {
        _ = try seats.attach(sessions[0], to: [DelegatedInstance(id: desk.id, uuid: "v")], timeout: .seconds(1))
      }
      #expect(error?.reason == .tooManyInstances)
      #expect(seats.count(of: "v") == 0)
    }
  }

  @Test func `Attaching and detaching keep the order of their frames`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = world.session()
      let other = world.accept("instance.update", ["instance": "desk", "labels": ["a": "b"]], on: session)
      let attach = world.accept("delegate.attach", ["instances": ["desk"]], on: session)
      let detach = world.accept("delegate.detach", [:], on: session)
      let ended = Records<String>()
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          _ = await World.finish(detach)
          ended.add("detach")
        }
        group.addTask {
          _ = await World.finish(attach)
          ended.add("attach")
        }
        // The update that came first has not run, so both wait for it.
        for _ in 0..<100 { await Task.yield() }
        #expect(ended.all == [])
        group.addTask { _ = await World.finish(other) }
      }
      #expect(ended.all == ["attach", "detach"])
      #expect(world.delegates.attachedCount(of: desk.actor.bridgeKey(nil)) == 0)
      #expect(try await world.events().suffix(2) == [.delegateAttached, .delegateDetached])
    }
  }

  @Test func `No question comes before the reply`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let link = FakeLink()
      link.answer { _, _ in ["token": "t"] }
      let session = ClientSession(link: link)
      guard case .run(let call) = world.accept("delegate.attach", ["instances": ["desk"]], on: session) else {
        return #expect(Bool(false), "it is a call to be run")
      }
      _ = try await call.run().get()
      try await withThrowingTaskGroup(of: BridgeAnswer?.self) { group in
        group.addTask { try await world.ask(desk) }
        for _ in 0..<100 { await Task.yield() }
        #expect(link.requests.isEmpty)
        call.answered()
        let answer = try await group.next()
        #expect(answer??.token == Secret("t"))
      }
    }
  }

  @Test func `A deleted instance has no delegates, and its name's next bearer none of its`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let session = await world.delegate("one", Records())
      world.delegates.forget(desk.actor.bridgeKey(nil))
      try await world.host.delete(desk)
      let next = try await world.instance()
      #expect(world.delegates.attachedCount(of: next.actor.bridgeKey(nil)) == 0)
      #expect(try await world.ask(next) == nil)
      await world.attach(session)
      #expect(try await world.ask(next)?.token == Secret("one"))
    }
  }

  // MARK: Lost delegates

  @Test func `A lost delegate is waited for, and answers when it is back`() async throws {
    try await World.run(grace: .seconds(600)) { world in
      let desk = try await world.instance()
      #expect(!world.delegates.hasDelegate(desk.actor.bridgeKey(nil)))
      let lost = await world.delegate("one", Records())
      #expect(world.delegates.hasDelegate(desk.actor.bridgeKey(nil)))
      await world.gateway.endSubscriptionsAndDelegates(of: lost)
      #expect(world.delegates.hasDelegate(desk.actor.bridgeKey(nil)))
      #expect(try await world.ask(desk) == nil, "who has a provider does not wait")
      try await withThrowingTaskGroup(of: BridgeAnswer?.self) { group in
        group.addTask { try await world.ask(desk, waits: true) }
        for _ in 0..<100 { await Task.yield() }
        _ = await world.delegate("back", Records())
        let answer = try await group.next()
        #expect(answer??.token == Secret("back"))
      }
    }
  }

  @Test func `A connection that is lost in the middle of a question is waited for`() async throws {
    try await World.run(grace: .seconds(600)) { world in
      let desk = try await world.instance()
      let link = FakeLink()
      let session = ClientSession(link: link)
      link.answer { [weak link] _, _ throws(PeerRequestError) in
        link?.close()
        throw .closed
      }
      await world.attach(session)
      try await withThrowingTaskGroup(of: BridgeAnswer?.self) { group in
        group.addTask { try await world.ask(desk, waits: true) }
        try await eventually("it is asked") { link.isClosed }
        await world.gateway.endSubscriptionsAndDelegates(of: session)
        _ = await world.delegate("back", Records())
        let answer = try await group.next()
        #expect(answer??.token == Secret("back"))
      }
    }
  }

  @Test func `A lost delegate is waited for although its connection is not closed yet`() async throws {
    try await World.run(grace: .seconds(600)) { world in
      let desk = try await world.instance()
      let asked = Records<String>()
      let session = await world.delegate("lost", asked, answer: .failure(.closed))
      try await withThrowingTaskGroup(of: BridgeAnswer?.self) { group in
        group.addTask { try await world.ask(desk, waits: true) }
        try await eventually("it is asked") { asked.count == 1 }
        for _ in 0..<100 { await Task.yield() }
        await world.gateway.endSubscriptionsAndDelegates(of: session)
        _ = await world.delegate("back", Records())
        let answer = try await group.next()
        #expect(answer??.token == Secret("back"))
      }
    }
  }

  @Test func `A delegate whose attaching takes long is waited for, where there is no provider`() async throws {
    try await World.run(grace: .seconds(600), replyTime: .milliseconds(1)) { world in
      let desk = try await world.instance()
      let call = try await world.attaching("t")
      #expect(try await world.ask(desk) == nil)
      try await withThrowingTaskGroup(of: BridgeAnswer?.self) { group in
        group.addTask { try await world.ask(desk, waits: true) }
        try await Task.sleep(for: .milliseconds(100))
        call.answered()
        let answer = try await group.next()
        #expect(answer??.token == Secret("t"))
      }
    }
  }

  @Test(arguments: [196, 198, 200, 201, 202, 203, 204, 206, 208, 300])
  func `Of two delegates that are being attached, the one that is ready first answers`(milliseconds: Int) async throws {
    try await World.run(grace: .seconds(600), replyTime: .milliseconds(200)) { world in
      let desk = try await world.instance()
      _ = try await world.attaching("first")
      let last = try await world.attaching("last")
      try await withThrowingTaskGroup(of: BridgeAnswer?.self) { group in
        group.addTask { try await world.ask(desk, waits: true) }
        // The last one was waited for, or is about to be skipped, and the first one is waited for next.
        try await Task.sleep(for: .milliseconds(milliseconds))
        last.answered()
        let answer = try await group.next()
        #expect(answer??.token == Secret("last"))
      }
    }
  }

  @Test func `The waiting ends with the grace, the deadline or the task`() async throws {
    // On a busy machine a grace can be over before the question comes, which then ends without a reason.
    var ended: String?
    for grace in [Duration.seconds(2), .seconds(10), .seconds(50)] where ended == nil {
      try await World.run(grace: grace) { world in
        let desk = try await world.instance()
        await world.gateway.endSubscriptionsAndDelegates(of: await world.delegate("one", Records()))
        ended = await reason { _ = try await world.ask(desk, waits: true) }
        #expect(!world.delegates.hasDelegate(desk.actor.bridgeKey(nil)))
        #expect(try await world.ask(desk, waits: true) == nil, "after the grace nobody is there")
      }
    }
    #expect(ended == "providerTimeout")
    try await World.run(grace: .seconds(600)) { world in
      let desk = try await world.instance()
      await world.gateway.endSubscriptionsAndDelegates(of: await world.delegate("one", Records()))
      var question = world.question(desk)
      question.deadline = world.clock.now + 0.1
      #expect(await reason { _ = try await world.ask(question, desk, waits: true) } == "providerTimeout")
      await withTaskGroup(of: String?.self) { group in
        group.addTask { await reason { _ = try await world.ask(desk, waits: true) } }
        group.cancelAll()
        #expect(await group.next() == "shuttingDown")
      }
    }
  }

  @Test func `Who detaches is not expected back`() async throws {
    try await World.run(grace: .seconds(600)) { world in
      let desk = try await world.instance()
      let session = await world.delegate("one", Records())
      _ = await world.call("delegate.detach", on: session)
      await world.gateway.endSubscriptionsAndDelegates(of: session)
      #expect(!world.delegates.hasDelegate(desk.actor.bridgeKey(nil)))
      #expect(try await world.ask(desk, waits: true) == nil)
    }
  }

  @Test("A deleted instance leaves nothing of its delegates behind")
  func forgottenSeats() async throws {
    try await World.run { world in
      let desk = try await world.instance("one")
      let session = world.session()
      var seats = DelegateSeats<ClientSession>()
      _ = try seats.attach(session, to: [desk.delegated], timeout: .seconds(1))
      #expect(seats.connectionCount == 1)
      seats.forget(desk.uuid.description)
      #expect(seats.connectionCount == 0)
    }
  }

  private final class Memory: DelegateMemory {
    private let kept: Mutex<Set<String>>
    init(_ kept: Set<String> = []) { self.kept = Mutex(kept) }
    func load() -> Set<String> { kept.withLock { $0 } }
    func save(_ instances: Set<String>) async { kept.withLock { $0 = instances } }
  }

  @Test func `Who was attached or had just been lost is expected back after a restart`() async throws {
    try await World.run { world in
      let (one, two) = (try await world.instance("one"), try await world.instance("two"))
      let memory = Memory(["gone"])
      let deadlines = Deadlines(clock: world.clock.wall, timer: UnwatchedTimer())
      func restarted() -> Delegates {
        Delegates(
          instances: world.registry, grace: .seconds(2),
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
          memory: memory, now: world.clock.wall.now, start: world.operations.start,
          later: { deadlines.set("delegates", at: $0, $1) })
      }
      let delegates = restarted()
      #expect(delegates.hasDelegate(BridgeKey(instance: "gone")))
      let session = world.session()
      try await delegates.attach(session, to: [one.delegated, two.delegated], timeout: .seconds(1))
      _ = await delegates.detach(session, from: [two.id])
      await delegates.end(session)
      try await eventually("it is noted") { memory.load().contains(one.uuid.description) }
      try await eventually("the note is right") { !memory.load().contains(two.uuid.description) }
      let next = restarted()
      #expect(next.hasDelegate(one.actor.bridgeKey(nil)))
      #expect(!next.hasDelegate(two.actor.bridgeKey(nil)))
      try await eventually("the grace is over") { !next.hasDelegate(one.actor.bridgeKey(nil)) }
      world.clock.advance(3)
      try await eventually("it is noted that nobody has come back", waking: deadlines) { memory.load().isEmpty }
    }
  }

  /// A memory whose disk blocks until `release()`.
  private final class SlowMemory: DelegateMemory {
    private let isReleased = Atomic(false)
    private let calls = Mutex<[Set<String>]>([])
    private let atOnce = Mutex(0)
    private let most = Mutex(0)

    var saved: [Set<String>] { calls.withLock { $0 } }
    var mostAtOnce: Int { most.withLock { $0 } }
    func release() { isReleased.store(true, ordering: .releasing) }

    func load() -> Set<String> { [] }
    func save(_ instances: Set<String>) async {
      let now = atOnce.withLock { count in
        count += 1
        return count
      }
      most.withLock { $0 = max($0, now) }
      while !isReleased.load(ordering: .acquiring) { try? await Task.sleep(for: .milliseconds(1)) }
      calls.withLock { $0.append(instances) }
      atOnce.withLock { $0 -= 1 }
    }
  }

  @Test("A note that hangs on the disk stops neither calls nor tasks, and the last state is kept")
  func aSlowNote() async throws {
    try await World.run { world in
      let desk = try await world.instance("one")
      let memory = SlowMemory()
      let delegates = Delegates(
        instances: world.registry, grace: .zero, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        memory: memory, now: world.clock.wall.now, start: world.operations.start)
      for _ in 0..<10 {
        let session = world.session()
        try await delegates.attach(session, to: [desk.delegated], timeout: .seconds(1))
        _ = await delegates.detach(session, from: [desk.id])
      }
      let session = world.session()
      try await delegates.attach(session, to: [desk.delegated], timeout: .seconds(1))
      #expect(memory.saved.isEmpty, "calls have returned before the disk did")
      memory.release()
      try await eventually("the last state is kept") { memory.saved.last == [desk.uuid.description] }
      #expect(memory.mostAtOnce == 1)
      #expect(memory.saved.count <= 3, "states between are skipped")
    }
  }
}
