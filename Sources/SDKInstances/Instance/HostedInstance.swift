import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// One instance: the only one that holds its state, so that instances can't touch each other.
///
/// Inputs go through the `AuthenticationMachine` of a lane; what is to be durable is committed first, then memory is
/// published, then the rest is done. Work at the vendor or the bridge runs in `Operations` and comes back with its
/// epoch.
public actor HostedInstance {
  /// Its identity for life.
  public nonisolated let uuid: InstanceUUID
  /// Its name.
  public nonisolated let id: InstanceID
  /// Its SDK.
  public nonisolated let kind: KindName
  /// When it was made.
  public nonisolated let createdAt: Timestamp
  nonisolated let environment: InstanceEnvironment
  /// The time at the vendor.
  nonisolated let vendorClock: VendorClock
  nonisolated let logger: Logger
  nonisolated let published: Mutex<Published>

  var definition: Definition
  var adapter: any SDKAdapter
  var provider: ProviderConfiguration?
  /// One for each service; one without a name for kinds that have none.
  var lanes: [Lane]
  var durableEpoch: UInt64
  var storageEpoch: UInt64
  var pushes: [PushRecord]
  /// What the vendor must still be told.
  var deliveries: [Delivery]
  /// Deliveries that are on their way.
  var delivering: Set<String> = []
  var isDeleted = false

  private var isEntered = false
  private var entrants: [CheckedContinuation<Void, Never>] = []

  /// An instance as the store has it.
  init(
    stored: StoredInstance, definition: Definition, adapter: any SDKAdapter, provider: ProviderConfiguration?,
    environment: InstanceEnvironment
  ) throws {
    uuid = stored.uuid
    id = stored.id
    kind = definition.kind
    createdAt = stored.createdAt
    self.environment = environment
    vendorClock = environment.vendorClocks.clock(of: stored.uuid)
    self.definition = definition
    self.adapter = adapter
    self.provider = provider
    durableEpoch = stored.epoch
    storageEpoch = stored.storageEpoch
    pushes = try stored.pushes.map { try JSONValueDecoder.decode(PushRecord.self, from: $0.value) }
    let deliveries = stored.outbox.compactMap { try? JSONValueDecoder.decode(Delivery.self, from: $0.value) }
    self.deliveries = deliveries
    let identities = try StoredIdentities(stored.identity)
    let now = environment.clock.now()
    let made = Self.lanes(adapter.services, policy: adapter.policy, epoch: stored.epoch, now: now) { identities[$0] }
    for lane in made { lane.recovery.random = environment.clock.random() }
    lanes = made
    var logger = environment.logger
    logger[metadataKey: "instance"] = "\(stored.id)"
    logger[metadataKey: "kind"] = "\(definition.kind)"
    self.logger = logger
    if deliveries.count < stored.outbox.count {
      logger.error(
        "\(stored.outbox.count - deliveries.count) deliveries to the vendor can't be read and are not made.")
    }
    published = Mutex(Published(definition: definition, storageEpoch: stored.clientStorageEpoch))
  }

  /// Lanes for these services, or one for the whole instance.
  static func lanes(
    _ services: [String], policy: AuthenticationPolicy, epoch: UInt64, now: Timestamp,
    identity: (String?) -> IdentityRecord?
  ) -> [Lane] {
    let names: [String?] = services.isEmpty ? [nil] : services
    return names.map {
      Lane(service: $0, identity: identity($0) ?? .nobody(.noUser), epoch: epoch, policy: policy, now: now)
    }
  }

  /// The bridge's name for a lane.
  nonisolated func bridgeKey(_ service: String?) -> BridgeKey {
    BridgeKey(instance: uuid.description, service: service)
  }

  var now: Timestamp { environment.clock.now() }

  /// The time by which credentials end.
  var vendorNow: Timestamp { vendorClock.now }

  /// The clock for a kind's own checks: the vendor's.
  public nonisolated var wallClock: WallClock { vendorClock.wallClock }

  // MARK: One change at a time

  /// Waits until no change is being committed. What follows up to `leave` sees no other change.
  func enter() async {
    if isEntered {
      await withCheckedContinuation { entrants.append($0) }
    } else {
      isEntered = true
    }
  }

  func leave() {
    if entrants.isEmpty { isEntered = false } else { entrants.removeFirst().resume() }
  }

  /// Returns when the actor has its turn: the watchdog's question.
  public func answer() {}

  #if DEBUG
    /// Does something in the actor's turn.
    public func run(_ body: @Sendable () -> Void) { body() }
  #endif

  /// A deleted instance answers as a missing one.
  func checkAlive() throws {
    if isDeleted { throw SDKError.instanceNotFound(id) }
  }

  // MARK: What readers see

  /// Shows readers what is durable now.
  func publish() {
    var next = Published(
      definition: definition, storageEpoch: clientStorageEpoch, pending: deliveries.map { Instance.Pending($0) })
    for lane in lanes {
      let identity = lane.identity
      let token = lane.machine.mayHandOut && adapter.withheld(identity) == nil ? identity.credential : nil
      next[lane.service] = PublishedLane(
        state: lane.machine.state, user: lane.visibleUser, expiresAt: identity.credential?.expiresAt,
        lastError: identity.lastError, degraded: identity.degraded, isKnown: !identity.isNobody,
        token: token.map { PublishedToken($0, http: adapter.http(for: $0, of: identity)) })
    }
    let shown = next
    published.withLock { $0 = shown }
  }

  var clientStorageEpoch: String { uuid.clientStorageEpoch(storageEpoch) }

  /// The definition as it is in force.
  public nonisolated var currentDefinition: Definition { published.withLock { $0.definition } }

  /// Who sees it, as it is in force.
  nonisolated var currentAccess: InstanceAccess { published.withLock { $0.definition.instanceAccess } }

  /// Where it stands; of several services, where the one stands that is signed in furthest.
  public nonisolated var state: InstanceState { published.withLock { $0.main.state } }

  /// Whether a user, on any service, is not signed in any more, which a clock that is set back may change.
  nonisolated var mayBeRevived: Bool {
    published.withLock {
      ([$0.whole].compactMap { $0 } + $0.services.values).contains { $0.state == .reauthNeeded || $0.degraded != nil }
    }
  }

  /// Who is signed in.
  public nonisolated var user: User { published.withLock { $0.main.user } }

  /// Who is signed in on a service.
  public nonisolated func user(of service: String?) throws -> User {
    let shown = published.withLock { $0 }
    return (shown[try resolve(service)] ?? shown.main).user
  }

  /// The answer of `token.get`, if the cached credential lives long enough.
  public nonisolated func cachedAnswer(minTTL: Double, http: Bool) -> (text: [UInt8], tokenId: TokenID)? {
    guard let token = published.withLock({ $0.whole?.token }),
      let text = token.answer(minTTL: minTTL, http: http, now: vendorClock.now)
    else { return nil }
    return (text, token.tokenId)
  }
}
