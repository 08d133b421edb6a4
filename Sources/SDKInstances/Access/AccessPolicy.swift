public import SDKProtocol

/// The access rules of the daemon. They also evaluate the rules of an instance (sdkd-protocol(7)).
public struct AccessPolicy: Sendable {
  /// A rule that lets callers create instances whose ids begin with a prefix.
  public struct CreateRule: Sendable, Hashable {
    /// The callers that the rule applies to.
    public var who: AccessRule
    /// The prefix that the ids must have.
    public var prefix: String
    /// The maximum number of instances with this prefix that one caller may own.
    public var max: Int

    /// Creates a rule.
    public init(who: AccessRule, prefix: String, max: Int) {
      self.who = who
      self.prefix = prefix
      self.max = max
    }
  }

  /// The callers that may set a provider's `command`. It runs with the daemon's own user (`provider.md`).
  public enum CommandSetters: Sendable, Hashable {
    /// Every admin. This applies to a user's own daemon, and where `[bridge] same_uid` allows it.
    case admins
    /// Only callers with uid 0. The daemon runs as root, so the command would too.
    case root
    /// No caller. The daemon runs as a dedicated user, which can read all its state, and the command would run as that
    /// user.
    case nobody
  }

  /// The rules whose callers are admins, in addition to root.
  public var admins: [AccessRule]
  /// The rules that let callers other than admins create instances.
  public var create: [CreateRule]
  /// The daemon's own uid if that user is an admin too, as in the user daemon.
  public var ownUid: UInt32?
  /// The hosts and domains that instances may contact, unless an admin made them; `nil` for the vendors' own domains.
  public var hosts: [String]?
  /// The callers that may set a provider's `command`, which runs as a child of the daemon.
  public var commands: CommandSetters
  /// The directory that resolves the user and group names in rules to uids and gids.
  public var names: any NameDirectory

  /// Creates a policy.
  public init(
    admins: [AccessRule] = [], create: [CreateRule] = [], ownUid: UInt32? = nil,
    hosts: [String]? = nil, commands: CommandSetters = .admins, names: any NameDirectory
  ) {
    self.admins = admins
    self.create = create
    self.ownUid = ownUid
    self.hosts = hosts
    self.commands = commands
    self.names = names
  }

  /// Whether a peer is an admin.
  public func isAdmin(_ peer: Peer) -> Bool {
    peer.uid == 0 || peer.uid == ownUid || admins.contains { matches($0, peer) }
  }

  /// The user and group names in the policy's own rules.
  var requiredNames: Set<SystemName> { Set((admins + create.map(\.who)).flatMap(\.names)) }

  /// Whether a peer is an admin; `nil` if its unit decides, and its process was not looked up yet.
  public func isAdminUnlessUnknown(_ peer: Peer) -> Bool? {
    if peer.knowsProcess || peer.uid == 0 || peer.uid == ownUid { return isAdmin(peer) }
    if admins.contains(where: { !$0.namesUnit && matches($0, peer) }) { return true }
    let mayBe = admins.contains { rule in
      rule.namesUnit && rule.conditions.allSatisfy { $0.isAboutUnit || matches($0, peer) }
    }
    return mayBe ? nil : false
  }

  /// Returns the peer's role by the rules of an instance; `nil` without one, and then the instance is hidden from the
  /// peer.
  func role(of peer: Peer, by rules: RoleTable) -> Role? { isAdmin(peer) ? .admin : rules.role(of: peer) }

  /// Whether an instance counts against the quota of a peer: the peer owns it, or a uid of the same user does.
  ///
  /// The owner of an instance that was made by a call is the uid that made it, or the unit that its create rule names: a
  /// unit's uid can later belong to another service. Instances of admins count for nobody else.
  func counts(_ instance: InstanceAccess, for peer: Peer) -> Bool {
    guard instance.source == .api else { return false }
    if let rule = instance.ownerRule { return matches(rule, peer) }
    if instance.owner == peer.uid { return true }
    return names.user(of: instance.owner) == names.user(of: peer.uid)
      && !isAdmin(Peer(pid: 0, uid: instance.owner, gid: UInt32.max))
  }

  /// Returns the first rule that lets a peer create an instance of this id.
  public func createRule(for peer: Peer, id: InstanceID) -> CreateRule? {
    create.first { id.name.hasPrefix($0.prefix) && matches($0.who, peer) }
  }

  /// Whether all conditions of a rule hold for a peer. Conditions about units are checked last, so that systemd is
  /// queried only where a unit decides.
  public func matches(_ rule: AccessRule, _ peer: Peer) -> Bool {
    rule.conditions.allSatisfy { $0.isAboutUnit || matches($0, peer) }
      && rule.conditions.allSatisfy { !$0.isAboutUnit || matches($0, peer) }
  }

  private func matches(_ condition: AccessRule.Condition, _ peer: Peer) -> Bool {
    switch condition {
    case .everyone: true
    case .uid(let uid): peer.uid == uid
    case .user(let name): names.uid(ofUser: name) == peer.uid
    case .group(let name):
      names.gid(ofGroup: name).map { $0 == peer.gid || peer.groups.contains($0) } ?? false
    case .unit(let unit): peer.process.unit == unit
    case .userUnit(let unit, let user):
      peer.process.userUnit.map { $0.unit == unit && $0.uid == names.uid(ofUser: user) } ?? false
    case .userScope(let name, let user):
      peer.process.userUnit.map { $0.application == name && $0.uid == names.uid(ofUser: user) } ?? false
    }
  }
}

extension AccessRule {
  /// Whether any condition is about a unit.
  var namesUnit: Bool { conditions.contains { $0.isAboutUnit } }
}

extension AccessRule.Condition {
  fileprivate var isAboutUnit: Bool {
    switch self {
    case .unit, .userUnit, .userScope: true
    case .everyone, .user, .uid, .group: false
    }
  }
}
