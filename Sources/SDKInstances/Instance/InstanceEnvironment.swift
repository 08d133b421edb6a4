public import DelegateBridge
public import Logging
public import StateStore

/// The dependencies that all instances share.
public struct InstanceEnvironment: Sendable {
  /// The store that makes changes durable.
  public let store: any StateStore
  /// The bridge that responds to requests for a new credential.
  public let bridge: any AnsweringBridge
  /// The service that runs shared work.
  public let operations: Operations
  /// The timers of the instances.
  public let deadlines: Deadlines
  /// The schedule of renewals ahead of time.
  let renewals: Renewals
  /// The hub that emits events to observers.
  public let events: EventHub
  /// The wall clock.
  public let clock: WallClock
  /// The instances of the registry by state.
  let states = StateIndex()
  /// The instances of the registry by the ids in their access rules.
  let roles = RoleIndex()
  /// The clocks of the vendors.
  let vendorClocks: VendorClocks
  /// The client for HTTP requests.
  public let http: any HTTPSending
  /// The client for WebSockets.
  public let sockets: any SocketOpening
  /// The logger of the journal.
  public let logger: Logger
  /// The observer that is called when a renewal ends.
  let onRenewal: RenewalObserver

  /// Creates an environment with these dependencies.
  public init(
    store: any StateStore, bridge: any AnsweringBridge, operations: Operations, deadlines: Deadlines,
    events: EventHub, clock: WallClock, http: any HTTPSending, sockets: any SocketOpening,
    logger: Logger, onRenewal: @escaping RenewalObserver = { _ in }
  ) {
    self.store = store
    self.bridge = bridge
    self.operations = operations
    self.deadlines = deadlines
    renewals = Renewals(bridge: bridge)
    self.events = events
    self.clock = clock
    vendorClocks = VendorClocks(clock)
    self.http = http
    self.sockets = sockets
    self.logger = logger
    self.onRenewal = onRenewal
  }
}
