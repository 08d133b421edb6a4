import SDKProtocol

/// Who may see an instance's events now; looked up once for each event, whoever is subscribed.
public struct EventAudience: Sendable {
  let policy: AccessPolicy
  /// `nil` for an instance of which nothing is known any more: then admins alone may.
  let access: InstanceAccess?

  /// Whether a peer has a role.
  func admits(_ peer: Peer) -> Bool {
    guard let access else { return policy.isAdmin(peer) }
    return policy.role(of: peer, on: access) != nil
  }

  /// The instance's labels.
  var labels: [String: String] { access?.labels ?? [:] }
}
