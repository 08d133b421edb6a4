import SDKClientTesting
import Testing

struct ScriptedDaemonTests {
  private let daemon = ScriptedDaemon()
  private let desk: InstanceID

  init() throws { desk = try #require(InstanceID("desk")) }

  @Test func `A method without an answer is named`() async throws {
    let error = await #expect(throws: SDKClientError.self) { try await daemon.client().call("kind.method") }
    #expect(error?.reason == "methodNotFound")
    #expect(error?.description.contains("kind.method") == true)
  }

  @Test func `Params are checked as the daemon checks them`() async throws {
    daemon.on(TokenReject.self) { _ in Empty() }
    let error = await #expect(throws: SDKClientError.self) {
      try await daemon.client().call("token.reject", ["instance": "desk", "tokenID": "x"])
    }
    #expect(error?.reason == "invalidParams")
  }

  @Test func `A dropped connection leaves a write unknown, and a read is sent again`() async throws {
    daemon.on("kind.write") { _ in
      try await Task.sleep(for: .seconds(600))
      return [:]
    }
    daemon.on(DaemonHealth.self) { [daemon] _ in
      if daemon.calls.count(where: { $0.method == "daemon.health" }) == 1 { try await Task.sleep(for: .seconds(600)) }
      return DaemonHealth.Result(status: .ok, checks: [])
    }
    let client = daemon.client()
    let write = Task { try await client.call("kind.write") }
    let read = Task { try await client.call(DaemonHealth.self) }
    try await daemon.waitForCalls(of: "kind.write")
    try await daemon.waitForCalls(of: "daemon.health")
    daemon.drop()
    await #expect(throws: SDKClientError.outcomeUnknown(method: "kind.write", .connectionEnded)) {
      try await write.value
    }
    let health = try await read.value
    #expect(health.status == .ok)
    #expect(daemon.calls.count { $0.method == "kind.write" } == 1)
  }

  @Test func `Nobody listens while it is stopped`() async throws {
    daemon.stop()
    await #expect(throws: SDKClientError.noDaemon(path: "/scripted/sdkd.sock")) {
      try await daemon.client().call("kind.method")
    }
  }

  @Test func `Delegates are asked, and come back by themselves`() async throws {
    let client = daemon.client()
    let attachment = try await client.attach(to: [desk]) { question in
      question.user?.externalId == "mallory" ? .pass : .token(Secret("t-\(question.user?.externalId ?? "")"))
    }
    #expect(try await daemon.ask(.getToken, desk, externalId: "alice") == ["token": "t-alice"])
    #expect(try await daemon.ask(.getToken, desk, externalId: "mallory") == ["defer": true])
    daemon.drop()
    #expect(try await daemon.ask(.invalidAuth, desk, externalId: "bob") == ["token": "t-bob"])
    try await attachment.detach()
    #expect(daemon.delegateCount(of: desk) == 0)
    #expect(daemon.connectionCount == 0)
  }

  @Test func `Subscriptions have their filters`() async throws {
    let client = daemon.client()
    let other = try #require(InstanceID("other"))
    var events = client.events(EventFilter(instances: [desk], types: [.tokenRefreshed]), since: "event-0")
      .makeAsyncIterator()
    daemon.emit(.tokenRefreshed, other)
    daemon.emit(.userLoggedIn, desk)
    let wanted = daemon.emit(.tokenRefreshed, desk, data: ["tokenId": "00"])
    #expect(try await events.next() == .event(wanted))
  }
}
