import DelegateBridge
import Logging
import SDKProtocol
import StateStore
import Synchronization

/// The dependencies that all instances share.
struct InstanceEnvironment: Sendable {
  /// The store that makes changes durable.
  let store: any StateStore
  /// The bridge that responds to requests for a new credential.
  let bridge: any AnsweringBridge
  /// The service that runs shared work.
  let operations: Operations
  /// The timers of the instances.
  let deadlines: Deadlines
  /// The schedule of renewals ahead of time.
  let renewals: Renewals
  /// The hub that emits events to observers.
  let events: EventHub
  /// The wall clock.
  let clock: WallClock
  /// The instances of the registry by state.
  let states: StateIndex
  /// The instances of the registry by the ids in their access rules.
  let roles: RoleIndex
  /// The clocks of the vendors.
  let vendorClocks: VendorClocks
  /// The client for HTTP requests.
  let http: any HTTPSending
  /// The client for WebSockets.
  let sockets: any SocketOpening
  /// The logger of the journal.
  let logger: Logger
  /// The observer that is called when a renewal ends.
  let onRenewal: RenewalObserver
}

/// The instances of the registry by state, kept as the states change. A caller who may see all of them then needs no
/// look at each.
final class StateIndex: Sendable {
  private struct Contents {
    var counts: [KindName: [InstanceState: Int]] = [:]
    var waiting: Set<InstanceID> = []
  }

  private let contents = Mutex(Contents())

  /// The number of instances of each kind in each state.
  var counts: [KindName: [InstanceState: Int]] { contents.withLock { $0.counts } }

  /// The instances that wait for a new credential, in no order.
  var waiting: Set<InstanceID> { contents.withLock { $0.waiting } }

  /// Moves an instance from one state to another; `nil` for an instance that is not in the registry.
  func move(_ id: InstanceID, of kind: KindName, from former: InstanceState?, to state: InstanceState?) {
    guard former != state else { return }
    contents.withLock { contents in
      if let former {
        contents.counts[kind]?[former]? -= 1
        if contents.counts[kind]?[former] == 0 { contents.counts[kind]?[former] = nil }
      }
      if let state { contents.counts[kind, default: [:]][state, default: 0] += 1 }
      if state == .reauthNeeded || state == .locked { contents.waiting.insert(id) } else { contents.waiting.remove(id) }
    }
  }
}
