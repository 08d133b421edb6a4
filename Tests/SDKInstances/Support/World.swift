import Concurrency
import DelegateBridge
import Doubles
import JSONRPC
import Logging
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// A daemon in memory, without sockets: registry, gateway and hub over fakes.
final class World: Sendable {
  struct NoHTTP: HTTPSending {
    func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts { throw .timeout }
  }

  struct NoSockets: SocketOpening {
    func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket { throw .timeout }
  }

  let clock = ManualClock()
  let vendor = FakeVendor()
  let bridge = FakeBridge()
  let http = NoHTTP()
  let operations = Operations()
  let calls = ObservedCalls()
  let heardEvents = Records<StoredEvent>()
  let store: InMemoryStateStore
  let deadlines: Deadlines
  let hub: EventHub
  let registry: InstanceRegistry
  let host: InstanceHost
  let shortcuts: [Shortcut]
  let gateway: Gateway
  let delegates: Delegates

  init(
    store: InMemoryStateStore? = nil, policy: AuthenticationPolicy = .samples[0],
    access: AccessPolicy = AccessPolicy(names: AccessPolicyTests.Names()), grace: Duration = .zero,
    replyTime: Duration = .seconds(60), limits: SubscriptionLimits = SubscriptionLimits(),
    patience: Duration = .seconds(5), commitGate: Gate? = nil, wipeGate: Gate? = nil, reads: HeldReads.Gates? = nil
  ) {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let store = store ?? InMemoryStateStore(clock: { [clock] in clock.now })
    self.store = store
    deadlines = Deadlines(clock: clock.wall, timer: UnwatchedTimer())
    let kinds: [any SDKKind] = [
      FakeKind(vendor: vendor, policy: policy), FakeKind(name: KindName("fake.other"), vendor: vendor, policy: policy),
    ]
    registry = InstanceRegistry(kinds: kinds, access: access, logger: logger)
    hub = EventHub(
      store: store, directory: registry, operations: operations, logger: logger, limits: { limits },
      patience: patience
    ) { [heardEvents] in heardEvents.add($0) }
    var durable: any StateStore = store
    if let commitGate { durable = HeldStore(base: store, gate: commitGate) }
    if let wipeGate { durable = HeldWipeStore(base: store, gate: wipeGate) }
    if let reads { durable = HeldReads(base: store, gates: reads) }
    host = InstanceHost(
      registry, store: durable, bridge: bridge, operations: operations, deadlines: deadlines, events: hub,
      clock: clock.wall, http: http, sockets: NoSockets(), logger: logger)
    let facts = DaemonFacts(
      pid: 1, startedAt: ManualClock.start, restartCount: 0, limits: { [:] }, problems: { [] },
      metrics: { DaemonMetrics.Result(contentType: "text/plain", text: "# EOF\n") },
      reload: { DaemonReload.Result(added: [], changed: [], removed: [], unchanged: [], problems: []) },
      logLevel: { JournalLevel(level: .info, configured: .info) },
      setLogLevel: { JournalLevel(level: $0.level ?? .info, configured: .info) },
      backUp: { DaemonBackup.Result(name: $0.name ?? "auto-1", bytes: 0, createdAt: ManualClock.start) },
      rotateKey: { DaemonRotateKey.Result(rewrapped: 0) })
    delegates = Delegates(
      instances: registry, grace: grace, replyTime: replyTime, logger: logger, now: clock.wall.now,
      start: operations.start)
    let (router, methods, shortcuts) = Handlers.router(
      host: host, kinds: kinds, facts: facts, delegates: delegates)
    self.shortcuts = shortcuts
    gateway = Gateway(
      router: router, methods: methods, shortcuts: shortcuts, registry: registry, operations: operations,
      events: hub, delegates: delegates, logger: logger, observers: [calls],
      clock: MonotonicClock { [clock] in .seconds(clock.now - ManualClock.start) })
  }

  /// Runs a test in a new world, and then ends the world's tasks.
  static func run(
    store: InMemoryStateStore? = nil, policy: AuthenticationPolicy = .samples[0],
    access: AccessPolicy = AccessPolicy(names: AccessPolicyTests.Names()), grace: Duration = .zero,
    replyTime: Duration = .seconds(60), limits: SubscriptionLimits = SubscriptionLimits(), isReady: Bool = true,
    restores: Bool = true, patience: Duration = .seconds(5), commitGate: Gate? = nil, wipeGate: Gate? = nil,
    reads: HeldReads.Gates? = nil, _ test: (World) async throws -> Void
  ) async throws {
    let world = World(
      store: store, policy: policy, access: access, grace: grace, replyTime: replyTime, limits: limits,
      patience: patience, commitGate: commitGate, wipeGate: wipeGate, reads: reads)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await world.operations.run() }
      defer {
        world.vendor.openAll()
        world.bridge.openAll()
        world.operations.finish()
      }
      if restores { try await world.host.restore() }
      if isReady { await world.host.serve() }
      try await test(world)
    }
  }

  /// Wakes the deadlines as the timer does after the clock was set.
  func setClock() {
    deadlines.wake()
    host.clockWasSet()
  }

  /// Whether no renewal is reserved in the five seconds that end after a time. One that is alone begins at its latest
  /// time.
  func isFree(_ time: Timestamp) -> Bool {
    let renewals = host.environment.renewals
    let request = RenewalRequest(owner: 0, latest: time, earliest: clock.now, end: nil, random: 0)
    let place = renewals.place(request, former: nil, now: clock.now)
    defer { renewals.release(place) }
    return place.start == time
  }

  static let provider: JSONObject = ["command": ["/bin/true"]]

  /// Creates an instance, with a token provider unless `provider` is `false`.
  func instance(
    _ name: String = "desk", provider: Bool = true, settings: JSONObject = [:], owner: UInt32 = 0,
    access: AccessRules = AccessRules(), kind: String = "fake.chat", labels: [String: String] = [:]
  ) async throws -> HostedInstance {
    let id = try #require(InstanceID(name))
    let all = (["base_url": "https://a.example"] as JSONObject).merged(with: settings)
    return try await host.create(
      id,
      Definition(
        kind: KindName(kind), source: .api, owner: owner, settings: all, provider: provider ? Self.provider : nil,
        access: access, labels: labels))
  }

  /// Returns an existing instance; `nil` for an unknown name.
  func hosted(_ name: String) -> HostedInstance? { InstanceID(name).flatMap { registry.hosted($0) } }

  /// Returns the types of the store's first 1000 events, in order.
  func events() async throws -> [EventType] { try await store.events(after: 0, limit: 1000).map(\.type) }
  func count(_ type: EventType) async throws -> Int { try await events().count { $0 == type } }
  func last(_ type: EventType) async throws -> StoredEvent? {
    try await store.events(after: 0, limit: 1000).last { $0.type == type }
  }
}

extension HostedInstance {
  @discardableResult
  func signIn(_ token: String) async throws -> User { try await signIn(Secret(token), accepted: {}) }

  @discardableResult
  func signIn(_ token: Secret, accepted: @Sendable () -> Void) async throws -> User {
    try await signIn(accepted: accepted) { (adapter: FakeAdapter, identity, isUsable) in
      let checked = try adapter.check(token, now: wallClock.now())
      return isUsable && token == identity.credential?.token ? nil : checked
    }.user
  }
  @discardableResult
  func signOut(localOnly: Bool = false) async throws -> Bool { try await signOut(localOnly: localOnly, accepted: {}) }
  func token(
    service: String? = nil, minTTL: Double = 0, timeout: Double? = nil, http: Bool = false
  ) async throws -> Token {
    try await token(TokenDemand(minTTL: minTTL, http: http), of: service, timeout: timeout)
  }
  func openSession(minTTL: Double, timeout: Double?) async throws -> Session {
    try await openSession(TokenDemand(minTTL: minTTL), timeout: timeout)
  }
  func cachedAnswer(minTTL: Double, http: Bool) -> (text: [UInt8], tokenId: TokenID)? {
    cachedAnswer(TokenDemand(minTTL: minTTL, http: http), of: nil)
  }
}

/// A timer that never fires: tests call `wake` themselves.
struct UnwatchedTimer: DeadlineTimer {
  func arm(at time: Timestamp?) {}
}

/// Returns the reason of the error that `work` throws, or its description if it has no reason; `nil` for no error.
func reason(_ work: () async throws -> Void) async -> String? {
  do {
    try await work()
    return nil
  } catch let error as any RPCErrorConvertible {
    return error.rpcError.reason
  } catch {
    return "\(error)"
  }
}
