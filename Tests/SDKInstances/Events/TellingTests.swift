import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Synchronization
import Testing

@testable import SDKInstances

struct TellingTests {
  /// A connection that reads the instance's cached token at the moment it is sent an event.
  private final class CuriousLink: ClientLink {
    let peer = Peer(pid: 1, uid: 0, gid: 0)
    let isStranger = false
    let unsentBytes = 0
    let isClosed = false
    func writable(below bytes: Int) async {}
    let seen = Records<String>()
    let desk: HostedInstance

    init(_ desk: HostedInstance) { self.desk = desk }

    func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON {
      throw .closed
    }

    func send(_ line: [UInt8]) {
      let type = (try? JSONParser.parse(line))?["params"]?["event"]?["type"]?.stringValue ?? ""
      let token = desk.cachedAnswer(minTTL: 0, http: false).flatMap {
        try? JSONParser.parse($0.text)["token"]?.stringValue
      }
      seen.add("\(type) \(token ?? "none")")
    }
  }

  @Test func `Who hears of a change sees it`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let link = CuriousLink(desk)
      _ = try await world.call("events.subscribe", on: ClientSession(link: link)).get()
      try await desk.signIn("alice#1")
      world.bridge.answer("alice#2")
      _ = try await desk.refresh(timeout: nil, resetting: true)
      try await desk.signOut()
      try await eventually("all is told") { link.seen.count == 4 }
      #expect(
        link.seen.all == [
          "userLoggedIn alice#1", "tokenRefreshed alice#2", "userLoggedOut none", "identityWiped none",
        ])
    }
  }

  @Test func `Who lists an event sees what it tells of`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let isVisible = Mutex(false)
      // The change is durable, but the instance has not applied it yet.
      let change = InstanceChange(
        uuid: desk.uuid, id: desk.id, kind: desk.kind, events: [.init(.userLoggedOut)])
      let committed = try await world.store.commit(change).events
      async let listed = {
        let page = await world.call("events.list", on: world.session()).value
        return (page, isVisible.withLock { $0 })
      }()
      try await Task.sleep(for: .milliseconds(50))
      isVisible.withLock { $0 = true }
      world.hub.append(committed)
      let (page, wasVisible) = await listed
      #expect(page?["events"]?.arrayValue?.last?["type"] == "userLoggedOut")
      #expect(wasVisible)
    }
  }

  @Test func `A logout that can be listed has withdrawn the token, although it is not acknowledged yet`() async throws {
    let gate = Gate()
    defer { gate.open() }
    try await World.run(patience: .milliseconds(20), wipeGate: gate) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let logout = Task { try await desk.signOut() }
      try await eventually("the logout is listed") {
        let page = await world.call("events.list", on: world.session()).value
        return page?["events"]?.arrayValue?.contains { $0["type"] == "userLoggedOut" } == true
      }
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
      gate.open()
      #expect(try await logout.value)
    }
  }

  @Test("A call with a timeout does not wait longer for an earlier change", .timeLimit(.minutes(1)), arguments: 0..<3)
  func timeoutsBehindACommit(call: Int) async throws {
    let gate = Gate()
    defer { gate.open() }
    try await World.run(wipeGate: gate) { world in
      defer { gate.open() }
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let logout = Task { try await desk.signOut() }
      try await eventually("the logout is being stored") { gate.waitingCount == 1 }
      let end = await reason {
        switch call {
        case 0: _ = try await desk.token(timeout: 0.05)
        case 1: _ = try await desk.refresh(timeout: 0.05, resetting: false)
        default: _ = try await desk.openSession(minTTL: 0, timeout: 0.05)
        }
      }
      #expect(end == "timeout")
      gate.open()
      #expect(try await logout.value)
    }
  }

  @Test func `An event that nobody reports is listed all the same`() async throws {
    try await World.run(patience: .milliseconds(20)) { world in
      let desk = try await world.instance()
      let change = InstanceChange(
        uuid: desk.uuid, id: desk.id, kind: desk.kind, events: [.init(.userLoggedOut)])
      _ = try await world.store.commit(change)
      let page = await world.call("events.list", on: world.session()).value
      #expect(page?["events"]?.arrayValue?.last?["type"] == "userLoggedOut")
    }
  }
}
