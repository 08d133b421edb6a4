import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// One instance: the only one that holds its state, so that instances can't touch each other.
///
/// Inputs go through the `AuthenticationMachine`; what is to be durable is committed first, then memory is published,
/// then the rest is done. Work at the vendor or the bridge runs in `Operations` and comes back with its epoch.
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
  nonisolated let logger: Logger
  nonisolated let published: Mutex<Published>

  var definition: Definition
  var adapter: any SDKAdapter
  var provider: ProviderConfiguration?
  var machine: AuthenticationMachine
  var identity: IdentityRecord
  var durableEpoch: UInt64
  var storageEpoch: UInt64
  var isDeleted = false

  /// What is in progress and who waits for it.
  var progress: Progress?
  var recovery = RecoveryHistory()
  /// When subscribers were last told that the vendor can't be reached; `nil` once it has answered.
  var outageToldAt: Timestamp?
  /// Whether the vendor has accepted the credential since this process began.
  var isVerified = false

  private var isEntered = false
  private var entrants: [CheckedContinuation<Void, Never>] = []

  /// An activity: what it carries and its outcome.
  struct Progress {
    let outcome = SharedOutcome<AuthenticationMachine.Outcome>()
    /// The credential that is on its way to the vendor.
    var offered: CheckedCredential?
  }

  /// An instance as the store has it.
  init(
    stored: StoredInstance, definition: Definition, identity: IdentityRecord, adapter: any SDKAdapter,
    provider: ProviderConfiguration?, environment: InstanceEnvironment
  ) {
    uuid = stored.uuid
    id = stored.id
    kind = definition.kind
    createdAt = stored.createdAt
    self.environment = environment
    self.definition = definition
    self.adapter = adapter
    self.provider = provider
    self.identity = identity
    durableEpoch = stored.epoch
    storageEpoch = stored.storageEpoch
    machine = AuthenticationMachine(
      phase: identity.phase, standing: identity.standing(at: environment.clock.now()), epoch: stored.epoch,
      policy: adapter.policy)
    var logger = environment.logger
    logger[metadataKey: "instance"] = "\(stored.id)"
    logger[metadataKey: "kind"] = "\(definition.kind)"
    self.logger = logger
    published = Mutex(
      Published(
        definition: definition, state: machine.state, user: identity.user, expiresAt: identity.credential?.expiresAt,
        lastError: identity.lastError, storageEpoch: stored.clientStorageEpoch, token: nil))
  }

  /// The bridge's name for this instance.
  nonisolated var bridgeKey: BridgeKey { BridgeKey(instance: uuid.description) }

  /// Whether there is somebody to ask for a credential.
  var canRenew: Bool { provider != nil }

  var now: Timestamp { environment.clock.now() }

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

  // MARK: What readers see

  /// Shows readers what is durable now.
  func publish() {
    let token = machine.mayHandOut ? identity.credential : nil
    let next = Published(
      definition: definition, state: machine.state, user: visibleUser, expiresAt: identity.credential?.expiresAt,
      lastError: identity.lastError, storageEpoch: clientStorageEpoch,
      token: token.map { PublishedToken($0, http: adapter.http(for: $0, of: identity)) })
    published.withLock { $0 = next }
  }

  /// In `reauthNeeded` the user is known but not signed in.
  var visibleUser: User {
    var user = identity.user
    if machine.phase == .reauthNeeded || machine.phase == .locked { user.authenticated = false }
    return user
  }

  var clientStorageEpoch: String { "\(uuid.description.prefix(8))-\(storageEpoch)" }

  /// The definition as it is in force.
  public nonisolated var currentDefinition: Definition { published.withLock { $0.definition } }

  /// Where it stands.
  public nonisolated var state: InstanceState { published.withLock { $0.state } }

  /// Who is signed in.
  public nonisolated var user: User { published.withLock { $0.user } }

  /// The answer of `token.get`, if the cached credential lives long enough.
  public nonisolated func cachedAnswer(minTTL: Double, http: Bool) -> [UInt8]? {
    published.withLock { $0.token }?.answer(minTTL: minTTL, http: http, now: environment.clock.now())
  }
}
