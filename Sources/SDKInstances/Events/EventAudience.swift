import SDKProtocol

/// The peers that may see an instance's events. Looked up once for each event, for all subscribers.
public struct EventAudience: Sendable {
  let policy: AccessPolicy
  /// The access of the instance; `nil` for an unknown instance, whose events only admins may see.
  let access: InstanceAccess?

  /// Whether a peer may see the events: it has a role on the instance or is an admin.
  func admits(_ peer: Peer) -> Bool {
    guard let access else { return policy.isAdmin(peer) }
    return policy.role(of: peer, on: access) != nil
  }

  /// The instance's labels; empty for an unknown instance.
  var labels: [String: String] { access?.labels ?? [:] }
}
