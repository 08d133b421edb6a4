import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore

/// The state of an instance and the rules by which it changes: a value without clock, random numbers and I/O.
///
/// Its mutating functions return a `Step`: the change to commit and the effects to begin afterwards. The instance makes
/// each step on a copy, and takes the copy over once the change is committed. Time, random numbers and the status of
/// the bridge arrive as `StepContext`.
struct InstanceCore: Sendable {
  /// The permanent identifier of the instance.
  let uuid: InstanceUUID
  /// The name of the instance.
  let id: InstanceID
  /// The kind of SDK.
  let kind: KindName
  /// The current definition.
  var definition: Definition
  /// The rules of the kind. Only its pure functions are called here.
  var adapter: any SDKAdapter
  /// The token provider; `nil` without one.
  var provider: ProviderConfiguration?
  /// The state of each service; of a kind without services, one state without a name.
  var services: [ServiceState]
  /// The push registrations.
  var pushes: [PushRecord]
  /// The cleanup deliveries that the vendor must still receive.
  var deliveries: [Delivery]
  /// The ids of the deliveries in progress.
  var delivering: Set<String> = []
  /// The epoch on disk. A change that expects another one fails.
  var durableEpoch: UInt64
  /// The first epoch with the present backend. A request of an earlier epoch went to another one.
  var backendEpoch: UInt64
  /// The number of wipes, which storage and apps see as the storage epoch.
  var storageEpoch: UInt64
  var isDeleted = false
  /// The number of activities that were begun, such as logins and renewals. The ids of activities are made from it.
  var activities: UInt64 = 0

  /// Creates the state of a stored instance.
  ///
  /// - Throws: `JSONDecodingError` for rows of an unknown form. Deliveries of an unknown form are left out.
  init(
    _ stored: StoredInstance, definition: Definition, adapter: any SDKAdapter, provider: ProviderConfiguration?,
    now: Timestamp, random: () -> Double
  ) throws {
    uuid = stored.uuid
    id = stored.id
    kind = definition.kind
    self.definition = definition
    self.adapter = adapter
    self.provider = provider
    (durableEpoch, backendEpoch) = (stored.epoch, stored.epoch)
    storageEpoch = stored.storageEpoch
    pushes = try stored.pushes.map { try JSONValueDecoder.decode(PushRecord.self, from: $0.value) }
    deliveries = stored.outbox.compactMap { try? JSONValueDecoder.decode(Delivery.self, from: $0.value) }
    let identities = try StoredIdentities(stored.identity)
    services = ServiceState.all(of: adapter.traits, epoch: stored.epoch, now: now) { identities[$0] }
    for index in services.indices { services[index].recovery.random = random() }
    for name in stored.failedWipes { self[name.isEmpty ? nil : name]?.machine.wipeFailed() }
  }

  /// The services whose wipe could not be stored, with the present storage epoch, in the form that the store notes them.
  var failedWipes: [String: UInt64] {
    var wipes: [String: UInt64] = [:]
    guard !isDeleted else { return wipes }
    for state in services where state.machine.hasFailedWipe { wipes[state.service ?? ""] = storageEpoch }
    return wipes
  }

  /// Returns the failed wipes to note before the commit of a change that wipes. Those that remain after it, in `next`, are
  /// to end the storage epoch that follows the change. Before the commit, that is a later one, which counts too.
  func failedWipes(remainingAfter next: InstanceCore) -> [String: UInt64] {
    var wipes = failedWipes
    for service in next.failedWipes.keys { wipes[service]? &+= 1 }
    return wipes
  }

  /// The state of a service; `nil` if the instance has no such service. Setting the state of such a service does
  /// nothing.
  subscript(service: String?) -> ServiceState? {
    get { services.first { $0.service == service } }
    set {
      guard let newValue, let index = services.firstIndex(where: { $0.service == service }) else { return }
      services[index] = newValue
    }
  }

  /// Returns the id of a new activity.
  mutating func newActivity() -> ActivityID {
    activities += 1
    return ActivityID(number: activities)
  }

  /// Whether readers would see a difference between `former` and this state.
  func isSeenOtherwise(than former: InstanceCore) -> Bool {
    definition != former.definition || storageEpoch != former.storageEpoch || deliveries != former.deliveries
      || adapter !== former.adapter || services.count != former.services.count
      || !zip(services, former.services).allSatisfy {
        $0.service == $1.service && $0.machine == $1.machine && $0.identity == $1.identity
      }
  }

  /// The storage epoch as clients see it.
  var clientStorageEpoch: String { uuid.clientStorageEpoch(storageEpoch) }

  // MARK: Changes

  /// Returns a change of this instance that fails unless the epoch on disk is the present one.
  func newChange(
    parts: [InstanceChange.Part] = [], events: [InstanceChange.NewEvent] = []
  ) -> InstanceChange {
    InstanceChange(uuid: uuid, id: id, kind: kind, expectedEpoch: durableEpoch, parts: parts, events: events)
  }

  /// Returns a change that is committed whatever the epoch on disk is.
  func unconditionalChange(
    parts: [InstanceChange.Part] = [], events: [InstanceChange.NewEvent] = []
  ) -> InstanceChange {
    InstanceChange(uuid: uuid, id: id, kind: kind, parts: parts, events: events)
  }

  /// Returns the stored form of the identities: empty ones if the kind keeps identities in memory only.
  func storedIdentities() throws(SDKError) -> JSON {
    let isKept = adapter.traits.persistsIdentity
    let records = services.map { state in
      (state.service, isKept ? state.identity : .nobody(state.identity.phase == .loggedOut ? .loggedOut : .noUser))
    }
    do {
      return try StoredIdentities.json(records)
    } catch {
      throw SDKError(.store, .storeUnavailable, "The identity can't be written.", instance: id)
    }
  }

  /// Replaces the identity of a service, without a new epoch.
  ///
  /// - Returns: the step; empty if the identity is the present one and there are no events.
  mutating func replaceIdentity(
    of service: String?, by record: IdentityRecord, events: [InstanceChange.NewEvent] = [],
    parts: [InstanceChange.Part] = []
  ) -> Step {
    guard record != self[service]?.identity || !events.isEmpty else { return Step() }
    self[service]?.identity = record
    return step(committing: newChange(parts: parts, events: events))
  }

  // MARK: Facts about a service

  /// Returns a service's renewal strategies: by the SDK itself, through the bridge, both, or none.
  func means(_ state: ServiceState, _ context: StepContext) -> RenewalMeans {
    let hasOwner = provider != nil || context.hasDelegate
    return RenewalMeans(
      itself: adapter.capabilities.renewal?.renewsItself(state.identity) ?? false,
      bridge: state.provided != nil || hasOwner && adapter.mayAsk(for: state.identity))
  }

  /// Whether a request went to the present backend.
  func hasBackend(of origin: SignedIn.Origin?) -> Bool { origin.map { $0.epoch >= backendEpoch } ?? true }

  /// Whether a connection is kept for a service's identity.
  func keepsConnection(_ state: ServiceState) -> Bool {
    adapter.capabilities.connection?.keepsConnection(for: state.identity) ?? false
  }

  /// Whether a session opens for a service's identity without a credential.
  func admitsGuest(_ state: ServiceState) -> Bool {
    adapter.capabilities.guests?.opensWithoutCredential(state.identity) ?? false
  }

  /// Whether an anonymous user may be created: only if there is no user, and not after an implicit logout.
  func mayBecomeAnonymous(_ state: ServiceState) -> Bool {
    (state.machine.phase == .noUser || state.machine.phase == .loggedOut)
      && state.identity.isLoggedOutImplicitly != true
  }

  /// Returns the adapter as the type `Adapter` of its kind.
  ///
  /// - Throws: `wrongKind` for the adapter of another kind.
  func own<Adapter: SDKAdapter>() throws(SDKError) -> Adapter {
    if let adapter = adapter as? Adapter { return adapter }
    throw SDKError(.state, .wrongKind, "\(id) is of kind \(kind), which does not have this method.", instance: id)
  }

  /// The error of an activity that a newer one replaced.
  var superseded: SDKError {
    SDKError(.state, .superseded, "A newer login or logout took this one's place; read the state again.", instance: id)
  }
}
