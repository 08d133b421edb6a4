import JSONRPC
import SDKClient
import SDKProtocol
import Synchronization
import Testing

/// A flag that ends a test's loops when it is raised.
private final class Flag: Sendable {
  private let value = Atomic(false)
  var isUp: Bool { value.load(ordering: .acquiring) }
  func raise() { value.store(true, ordering: .releasing) }
}

/// A thread-safe counter.
private final class Counter: Sendable {
  private let value = Atomic(0)
  var count: Int { value.load(ordering: .acquiring) }
  func add() { value.wrappingAdd(1, ordering: .releasing) }
}

/// The outcome of each write, by the name of its instance.
private final class Outcomes: Sendable {
  private let outcomes = Mutex<[String: String]>([:])
  var all: [String: String] { outcomes.withLock { $0 } }
  func note(_ id: InstanceID, _ outcome: String) { outcomes.withLock { $0[id.name] = outcome } }
}

/// The client with the real daemon, which is killed and stopped during the tests.
@Suite(.serialized) struct LiveTests {
  private func id(_ name: String) throws -> InstanceID { try #require(InstanceID(name)) }

  private func restart(_ live: LiveDaemon, killing: Bool) async throws {
    if killing { live.killNow() } else { try await live.terminate() }
    try await live.start()
  }

  private func client(_ live: LiveDaemon) -> SDKClient {
    // A restart on a loaded machine may take longer than users would wait.
    SDKClient(
      socket: .path(live.socket), options: ClientOptions(readRetry: RetrySchedule(limit: .seconds(60))))
  }

  @Test func `Events are seen once, in order, over kill -9 and SIGTERM`() async throws {
    let live = try await LiveDaemon.start()
    let client = client(live)
    let cursor = try await client.call(EventsList.self, .init()).cursor
    let seen = Mutex<[String]>([])
    let follower = Task {
      for try await item in client.events(EventFilter(types: [.instanceCreated]), since: cursor) {
        guard case .event(let event) = item else { continue }
        seen.withLock { $0.append(event.instance.name) }
      }
    }
    var expected: [String] = []
    for round in 0..<4 {
      for number in 0..<5 {
        let name = "i\(round)-\(number)"
        _ = try await client.call(InstanceCreate.self, live.definition(try id(name)))
        expected.append(name)
      }
      // In every second round, the client has seen all events before the restart.
      if round.isMultiple(of: 2) { try await waitUntil("they are seen") { seen.withLock { $0 } == expected } }
      try await restart(live, killing: round < 2)
    }
    _ = try await client.call(InstanceCreate.self, live.definition(try id("last")))
    expected.append("last")
    try await waitUntil("the last is seen") { seen.withLock { $0.last } == "last" }
    #expect(seen.withLock { $0 } == expected)
    follower.cancel()
    _ = await follower.result
  }

  @Test func `A write is run once or said to be unknown, and what was acknowledged stays`() async throws {
    let live = try await LiveDaemon.start()
    let client = client(live)
    _ = try await client.call(DaemonHealth.self)
    let definition = live.definition(try id("x"))
    let outcomes = Outcomes()
    for killing in [true, false] {
      let isOver = Flag()
      let writer = Task {
        var number = 0
        while !isOver.isUp {
          number += 1
          var params = definition
          params.instance = try id("w\(killing ? "k" : "t")\(number)")
          do {
            _ = try await client.call(InstanceCreate.self, params)
            outcomes.note(params.instance, "made")
          } catch let error as SDKClientError {
            outcomes.note(params.instance, error.reason)
          }
        }
      }
      try await waitUntil("it writes") { outcomes.all.count > 20 }
      try await restart(live, killing: killing)
      let count = outcomes.all.count
      try await waitUntil("it writes again") { outcomes.all.count > count + 20 }
      isOver.raise()
      try await writer.value
    }
    var existing: Set<String> = []
    var params = InstanceList.Params()
    while true {
      let page = try await client.call(InstanceList.self, params)
      existing.formUnion(page.instances.map(\.instance.name))
      guard let next = page.next else { break }
      params.after = next
    }
    let all = outcomes.all
    // The client repeated no write: a second `instance.create` would have failed with `instanceExists`.
    #expect(Set(all.values).subtracting(["made", "outcomeUnknown"]).isEmpty)
    #expect(all.filter { $0.value == "made" }.keys.allSatisfy(existing.contains))
    // A daemon that is stopped responds to each call that it has read.
    #expect(all.filter { $0.key.hasPrefix("wt") }.values.allSatisfy { $0 == "made" })
  }

  @Test func `Reads in progress don't notice a restart`() async throws {
    let live = try await LiveDaemon.start()
    let client = client(live)
    let desk = try id("desk")
    _ = try await client.call(InstanceCreate.self, live.definition(desk))
    let jwt = try await live.mint("alice")
    _ = try await client.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    let isOver = Flag()
    let reads = Counter()
    try await withThrowingTaskGroup { group in
      for _ in 0..<40 {
        group.addTask {
          while !isOver.isUp {
            let token = try await client.call(TokenGet.self, .init(instance: desk))
            #expect(token.token.reveal() == jwt)
            reads.add()
          }
        }
      }
      for killing in [true, false, true] {
        let before = reads.count
        try await waitUntil("they read") { reads.count > before + 200 }
        try await restart(live, killing: killing)
      }
      isOver.raise()
      try await group.waitForAll()
    }
  }

  @Test func `A delegate goes on answering over restarts`() async throws {
    let live = try await LiveDaemon.start()
    let client = client(live)
    let desk = try id("desk")
    _ = try await client.call(InstanceCreate.self, live.definition(desk))
    let first = try await live.mint("alice")
    _ = try await client.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
    let attachment = try await client.attach(to: [desk]) { question in
      .token(Secret(try await live.mint(question.user?.externalId ?? "")))
    }
    let changes = Mutex<[DelegateStatus]>([])
    let watcher = Task {
      for await status in attachment.statuses { changes.withLock { $0.append(status) } }
    }
    for killing in [true, false] {
      try await restart(live, killing: killing)
      // The delegate may not have attached again yet. The instance waits for it.
      let token = try await client.call(
        TokenRefresh.self, .init(instance: desk, timeout: Seconds(30)), timeout: .seconds(60))
      #expect(token.fromCache == false)
    }
    try await attachment.detach()
    await watcher.value
    let all = changes.withLock { $0 }
    #expect(all.first == .attached)
    #expect(all.last == .ended(nil))
    #expect(all.count { $0 == .attached } == 3)
    #expect(try await client.call(InstanceGet.self, .init(instance: desk)).bridge.attached == 0)
  }
}
