import Concurrency
import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// An instance and its state, which no other object holds, so that instances can't affect each other.
///
/// Inputs go through the `AuthenticationMachine` of a lane. The durable part is committed first, then memory is
/// published, then the remaining actions begin. Work at the vendor or the bridge runs in `Operations`, and its result
/// carries the epoch in which it began.
public actor HostedInstance {
  /// The permanent identifier of the instance.
  public nonisolated let uuid: InstanceUUID
  /// The name of the instance.
  public nonisolated let id: InstanceID
  /// The kind of SDK.
  public nonisolated let kind: KindName
  /// The time at which the instance was created.
  public nonisolated let createdAt: Timestamp
  nonisolated let environment: InstanceEnvironment
  /// The clock of the vendor.
  nonisolated let vendorClock: VendorClock
  nonisolated let logger: Logger
  nonisolated let published: Mutex<Published>

  var definition: Definition
  var adapter: any SDKAdapter
  var provider: ProviderConfiguration?
  /// The lanes: one for each service, or one without a name if the kind has no services.
  var lanes: [Lane]
  var durableEpoch: UInt64
  var storageEpoch: UInt64
  var pushes: [PushRecord]
  /// The notifications that the vendor must still get.
  var deliveries: [Delivery]
  /// The ids of the deliveries in progress.
  var delivering: Set<String> = []
  var isDeleted = false

  /// Locked during each change of the instance, so that changes happen one after another. Who holds it waits for the
  /// store only.
  nonisolated let changing = AsyncMutex()
  /// The number of commits in progress.
  private var commits = 0

  /// Creates an instance from its stored form.
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
    let made = Self.lanes(adapter.traits.services, policy: adapter.traits.policy, epoch: stored.epoch, now: now) {
      identities[$0]
    }
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

  /// Returns lanes for these services, or one for the whole instance if there are none.
  static func lanes(
    _ services: [String], policy: AuthenticationPolicy, epoch: UInt64, now: Timestamp,
    identity: (String?) -> IdentityRecord?
  ) -> [Lane] {
    let names: [String?] = services.isEmpty ? [nil] : services
    return names.map {
      Lane(service: $0, identity: identity($0) ?? .nobody(.noUser), epoch: epoch, policy: policy, now: now)
    }
  }

  /// Returns the bridge's key for a lane.
  nonisolated func bridgeKey(_ service: String?) -> BridgeKey {
    BridgeKey(instance: uuid.description, service: service)
  }

  var now: Timestamp { environment.clock.now() }

  /// The vendor's time, which decides when credentials expire.
  var vendorNow: Timestamp { vendorClock.now }

  /// The vendor's clock, for checks by the kind itself.
  public nonisolated var wallClock: WallClock { vendorClock.wallClock }

  /// Returns as soon as no change is in progress, or one waits for the store, or the task is cancelled: the health probe
  /// of the watchdog, which probes the store by itself.
  public func answer() async {
    while changing.isLocked, commits == 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) }
  }

  /// Commits a change.
  func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult {
    commits += 1
    defer { commits -= 1 }
    return try await environment.store.commit(change)
  }

  #if DEBUG
    /// Runs `body` on the actor.
    public func run(_ body: @Sendable () -> Void) { body() }
  #endif

  /// Throws the error of a missing instance if this one is deleted.
  func checkAlive() throws {
    if isDeleted { throw SDKError.instanceNotFound(id) }
  }

  // MARK: Published state

  /// Publishes the present state to readers.
  func publish() {
    var next = Published(
      definition: definition, storageEpoch: clientStorageEpoch, pending: deliveries.map { Instance.Pending($0) })
    for lane in lanes {
      let identity = lane.identity
      let token =
        lane.machine.mayHandOut && adapter.capabilities.bans?.withheld(identity) == nil ? identity.credential : nil
      next[lane.service] = PublishedLane(
        state: lane.machine.state, user: lane.visibleUser, expiresAt: identity.credential?.expiresAt,
        lastError: identity.lastError, degraded: identity.degraded, isKnown: !identity.isNobody,
        token: token.map { PublishedToken($0, http: adapter.http(for: $0, of: identity)) })
    }
    let shown = next
    published.withLock { $0 = shown }
  }

  var clientStorageEpoch: String { uuid.clientStorageEpoch(storageEpoch) }

  /// The definition in force.
  public nonisolated var currentDefinition: Definition { published.withLock { $0.definition } }

  /// The rules in force for access to the instance.
  nonisolated var currentAccess: InstanceAccess { published.withLock { $0.definition.instanceAccess } }

  /// The state of the instance; of several services, of the one that is signed in furthest.
  public nonisolated var state: InstanceState { published.withLock { $0.main.state } }

  /// Whether a user of any service is no longer signed in, which setting the clock back may undo.
  nonisolated var mayBeRevived: Bool {
    published.withLock {
      ([$0.whole].compactMap { $0 } + $0.services.values).contains { $0.state == .reauthNeeded || $0.degraded != nil }
    }
  }

  /// The user of the instance; of several services, of the one that is signed in furthest.
  public nonisolated var user: User { published.withLock { $0.main.user } }

  /// Returns the user of a service.
  public nonisolated func user(of service: String?) throws -> User {
    let shown = published.withLock { $0 }
    return (shown[try resolve(service)] ?? shown.main).user
  }

  /// Returns the answer of `token.get`; `nil` if the kind has services, or if the cached credential does not live for
  /// `minTTL` seconds.
  public nonisolated func cachedAnswer(minTTL: Double, http: Bool) -> (text: [UInt8], tokenId: TokenID)? {
    guard let token = published.withLock({ $0.whole?.token }),
      let text = token.answer(minTTL: minTTL, http: http, now: vendorClock.now)
    else { return nil }
    return (text, token.tokenId)
  }
}
