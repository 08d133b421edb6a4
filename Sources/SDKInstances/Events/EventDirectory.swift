public import SDKProtocol
public import StateStore

/// Who may see which events: what the hub asks the registry.
public protocol EventDirectory: Sendable {
  /// Who may see the events of an instance now. One that is gone has those who could when it was deleted.
  func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience
  /// The instances whose events a peer may see now and a filter lets through, those that are gone included; `nil`
  /// for all that are or were.
  func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>?
}
