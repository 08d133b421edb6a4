import JSONRPC
import JSONRPCTransport
import SDKClient
import Testing

struct EventTests {
  private let directory: TestDirectory

  init() throws { directory = try TestDirectory() }

  private func client(pause: @escaping @Sendable (Duration) async throws -> Void = { _ in }) -> SDKClient {
    SDKClient(socket: .path(directory.socket), options: ClientOptions(sleep: pause))
  }

  /// Expects that the next item is the event with this cursor.
  private func expect(
    _ cursor: String, _ events: inout EventSequence.Iterator, at location: SourceLocation = #_sourceLocation
  ) async throws {
    guard case .event(let event)? = try await events.next() else {
      Issue.record("no event", sourceLocation: location)
      return
    }
    #expect(event.cursor == cursor, sourceLocation: location)
  }

  /// Returns a daemon that accepts subscriptions and delivers events with `deliver`.
  private func daemon(
    begins cursor: String = "c0", _ deliver: @escaping @Sendable (Connection) -> Void
  ) -> TestDaemon {
    TestDaemon { request, connection in
      if request.method == "events.subscribe" { deliver(connection) }
      return .answer(["subscription": "s1", "cursor": .string(cursor)])
    }
  }

  @Test func eventsInOrderAndOnlyOnesOwn() async throws {
    let daemon = daemon { connection in
      connection.notify(method: "events.event", params: Samples.delivery("c1"))
      connection.notify(method: "events.event", params: Samples.delivery("x", subscription: "s2"))
      connection.notify(method: "daemon.closing", params: ["graceSeconds": 1])
      connection.notify(method: "events.event", params: Samples.delivery("c2", type: "somethingNew"))
      connection.notify(method: "events.event", params: Samples.delivery("c3"))
    }
    try await daemon.serve(at: directory.socket) { daemon in
      let id = try #require(InstanceID("kiosk"))
      let filter = EventFilter(instances: [id], labels: ["a": "b"], types: [.tokenRefreshed])
      var events = client().events(filter, since: "c").makeAsyncIterator()
      try await expect("c1", &events)
      let item = try await events.next()
      #expect(item == .unknown(Samples.event("c2", type: "somethingNew")))
      try await expect("c3", &events)
      #expect(
        daemon.requests[0].params == [
          "instances": ["kiosk"], "labels": ["a": "b"], "types": ["tokenRefreshed"], "since": "c",
        ])
    }
  }

  @Test func aLostConnectionGoesOnAfterTheLastEvent() async throws {
    let pause = Gate()
    let client = client { _ in await pause.wait() }
    let first = daemon { connection in
      connection.notify(method: "events.event", params: Samples.delivery("c1"))
      connection.notify(method: "events.event", params: Samples.delivery("c2"))
    }
    var events = client.events().makeAsyncIterator()
    try await first.serve(at: directory.socket) { daemon in
      try await expect("c1", &events)
      try await expect("c2", &events)
      #expect(daemon.requests[0].params == [:])
    }
    let second = daemon { $0.notify(method: "events.event", params: Samples.delivery("c3")) }
    try await second.serve(at: directory.socket) { daemon in
      pause.open()
      try await expect("c3", &events)
      #expect(daemon.requests[0].params == ["since": "c2"])
    }
  }

  @Test func aConnectionLostBeforeTheFirstEventMissesNone() async throws {
    let daemon = TestDaemon { request, connection in
      if request.params?["since"] == nil {
        connection.close()
      } else {
        connection.notify(method: "events.event", params: Samples.delivery("c1"))
      }
      return .answer(["subscription": "s1", "cursor": "c0"])
    }
    try await daemon.serve(at: directory.socket) { daemon in
      var events = client().events().makeAsyncIterator()
      try await expect("c1", &events)
      #expect(daemon.requests.last?.params == ["since": "c0"])
    }
  }

  @Test func aGapIsToldAndThenPassed() async throws {
    let daemon = TestDaemon { request, connection in
      switch request.method {
      case "events.subscribe":
        connection.notify(
          method: "events.gap", params: ["subscription": "s1", "from": "c1", "resume": "c9"])
      case "events.resume":
        connection.notify(method: "events.event", params: Samples.delivery("c10"))
      default: break
      }
      return .answer(["subscription": "s1", "cursor": "c9"])
    }
    try await daemon.serve(at: directory.socket) { daemon in
      var events = client().events(since: "c1").makeAsyncIterator()
      let item = try await events.next()
      #expect(item == .gap(from: "c1", resume: "c9"))
      // The subscription resumes only when the next item is requested, so that the reader can read the state first.
      #expect(daemon.methods == ["events.subscribe"])
      try await expect("c10", &events)
      #expect(daemon.requests.last?.params == ["subscription": "s1", "since": "c9"])
    }
  }

  @Test func aRestartDuringAGapGoesOnBehindIt() async throws {
    let client = client()
    var events = client.events(since: "c1").makeAsyncIterator()
    let first = daemon {
      $0.notify(method: "events.gap", params: ["subscription": "s1", "resume": "c9"])
    }
    try await first.serve(at: directory.socket) { _ in
      let item = try await events.next()
      #expect(item == .gap(from: nil, resume: "c9"))
    }
    let second = daemon { $0.notify(method: "events.event", params: Samples.delivery("c10")) }
    try await second.serve(at: directory.socket) { daemon in
      try await expect("c10", &events)
      #expect(daemon.requests[0].params == ["since": "c9"])
    }
  }

  @Test func aRefusedSubscriptionEndsIt() async throws {
    try await TestDaemon { _, _ in .refuse(Samples.accessDenied) }.serve(at: directory.socket) { daemon in
      var events = client().events().makeAsyncIterator()
      await #expect(throws: SDKClientError.rpc(Samples.accessDenied)) { try await events.next() }
      #expect(daemon.requests.count == 1)
    }
  }

  @Test func aDaemonThatIsNotThereIsSaidAtOnce() async throws {
    var events = client().events().makeAsyncIterator()
    await #expect(throws: SDKClientError.noDaemon(path: directory.socket)) { try await events.next() }
  }

  @Test func cancellingEndsTheWaiting() async throws {
    try await daemon { _ in }.serve(at: directory.socket) { daemon in
      let client = client()
      let reader = Task { for try await _ in client.events() {} }
      try await waitUntil("it has subscribed") { daemon.requests.count == 1 }
      reader.cancel()
      await #expect(throws: CancellationError.self) { try await reader.value }
      try await waitUntil("the connection has gone") { daemon.connections.allSatisfy(\.isClosed) }
    }
  }
}
