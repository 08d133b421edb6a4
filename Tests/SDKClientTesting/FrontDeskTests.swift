import SDKClientTesting
import Testing

/// A minimal class of an app, as a user of `SDKClient` would write it, and test it as below.
private actor FrontDesk {
  private let client: SDKClient
  private let instance: InstanceID
  private(set) var title = ""
  private(set) var log: [String] = []

  init(client: SDKClient, instance: InstanceID) {
    self.client = client
    self.instance = instance
  }

  func update() async throws {
    do {
      let session = try await client.call(SessionOpen.self, .init(instance: instance, minTTL: Seconds(30)))
      title = session.user.externalId ?? "a guest"
    } catch let error as SDKClientError where error.refusal == .notAuthenticated {
      title = "please sign in"
    }
  }

  func follow(until last: EventType) async throws {
    for try await item in client.events(EventFilter(instances: [instance])) {
      switch item {
      case .event(let event):
        log.append(event.type.rawValue)
        if event.type == last { return }
      case .unknown: break
      case .gap:
        log.append("gap")
        try await update()
      }
    }
  }
}

/// The app's tests, with the real client but without a socket or a daemon.
struct FrontDeskTests {
  private let daemon = ScriptedDaemon()
  private let desk: FrontDesk
  private let id: InstanceID

  init() throws {
    id = try #require(InstanceID("desk"))
    desk = FrontDesk(client: daemon.client(), instance: id)
  }

  private static let alice = User(externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true)
  private static let session = Session(
    user: alice, visible: true, history: false, mayMerge: false, storageEpoch: "1")

  @Test func `It shows who is signed in`() async throws {
    daemon.on(SessionOpen.self) { _ in Self.session }
    try await desk.update()
    #expect(await desk.title == "alice")
    #expect(try daemon.calls(of: SessionOpen.self).map(\.minTTL) == [Seconds(30)])
  }

  @Test func `It asks to sign in when nobody is`() async throws {
    daemon.on(SessionOpen.self) { _ in throw SDKError(.state, .notAuthenticated, "Nobody is signed in.") }
    try await desk.update()
    #expect(await desk.title == "please sign in")
  }

  @Test func `It sees every event once, also over a restart of the daemon`() async throws {
    async let following: Void = desk.follow(until: .userLoggedOut)
    try await daemon.waitForSubscriptions()
    daemon.emit(.userLoggedIn, id)
    daemon.stop()
    daemon.emit(.tokenRefreshed, id)
    daemon.start()
    try await daemon.waitForSubscriptions()
    daemon.emit(.userLoggedOut, id)
    try await following
    #expect(await desk.log == ["userLoggedIn", "tokenRefreshed", "userLoggedOut"])
  }

  @Test func `After a gap it looks again`() async throws {
    daemon.on(SessionOpen.self) { _ in Self.session }
    async let following: Void = desk.follow(until: .userLoggedOut)
    try await daemon.waitForSubscriptions()
    daemon.stop()
    daemon.forgetEvents()
    daemon.start()
    try await daemon.waitForCalls(of: "events.resume")
    daemon.emit(.userLoggedOut, id)
    try await following
    #expect(await desk.log == ["gap", "userLoggedOut"])
    #expect(await desk.title == "alice")
  }
}
