import SDKProtocol

/// A summary of all rules of a daemon: which peers any of them may admit.
///
/// A peer that has the uid or a group of a rule counts as known, also if the rule has further conditions.
public struct KnownPeers: Sendable {
  /// The relation of a peer to the rules.
  public enum Relation: Sendable, Hashable {
    /// A rule names one of the peer's ids.
    case known
    /// No rule names an id of the peer, and units are not asked for.
    case unknown
    /// No rule names an id of the peer, but its unit might be named.
    case dependsOnUnit
  }

  var hasEveryone = false
  var uids: Set<UInt32> = []
  var gids: Set<UInt32> = []
  /// The units and applications.
  var ofProcesses: Set<RoleIndex.Principal> = []

  /// Creates a summary that knows no peer.
  public init() {}

  /// Adds an id of a rule.
  mutating func add(_ key: RoleIndex.Principal) {
    switch key {
    case .everyone: hasEveryone = true
    case .uid(let uid): uids.insert(uid)
    case .gid(let gid): gids.insert(gid)
    case .unit, .application: ofProcesses.insert(key)
    }
  }

  /// Returns the relation of a peer to the rules. Never looks the peer's process up.
  public func relation(to peer: Peer) -> Relation {
    if hasEveryone || uids.contains(peer.uid) || gids.contains(peer.gid) { return .known }
    if peer.groups.contains(where: gids.contains) { return .known }
    if ofProcesses.isEmpty { return .unknown }
    guard let process = peer.knownProcess else { return .dependsOnUnit }
    return process.principals.contains(where: ofProcesses.contains) ? .known : .unknown
  }
}
