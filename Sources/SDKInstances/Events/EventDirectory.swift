public import SDKProtocol
public import StateStore

/// The source of the hub's access decisions: which peers may see which events.
public protocol EventDirectory: Sendable {
  /// Returns the peers that may see the events of an instance now. For a deleted instance, its access at the time of
  /// deletion counts.
  func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience
  /// Returns the instances whose events a peer may see now and a filter matches, deleted ones included; `nil` for all
  /// present and past instances.
  func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>?
}
