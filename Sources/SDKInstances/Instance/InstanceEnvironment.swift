public import DelegateBridge
public import Logging
public import StateStore

/// What all instances share.
public struct InstanceEnvironment: Sendable {
  /// Where changes become durable.
  public let store: any StateStore
  /// Who answers when a credential must be renewed.
  public let bridge: any AnsweringBridge
  /// Where shared work runs.
  public let operations: Operations
  /// When instances have something to do.
  public let deadlines: Deadlines
  /// Which renewals ahead of time begin when.
  let renewals: Renewals
  /// Who is told what happens.
  public let events: EventHub
  /// The wall clock.
  public let clock: WallClock
  /// What time it is at the vendors.
  let vendorClocks: VendorClocks
  /// Where HTTP requests go out.
  public let http: any HTTPSending
  /// Where WebSockets are opened.
  public let sockets: any SocketOpening
  /// The journal.
  public let logger: Logger
  /// Hears of renewals as they end.
  let onRenewal: RenewalObserver

  /// An environment of these parts.
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
