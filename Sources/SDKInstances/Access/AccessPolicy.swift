public import SDKProtocol

/// Who may do what: the daemon's own rules and how an instance's are read (`protocol.md`, "Who may call").
public struct AccessPolicy: Sendable {
  /// Lets callers create instances whose ids begin with a prefix.
  public struct CreateRule: Sendable, Hashable {
    /// Whom it lets.
    public var who: AccessRule
    /// With what the ids must begin.
    public var prefix: String
    /// How many each uid may have.
    public var max: Int

    /// A rule.
    public init(who: AccessRule, prefix: String, max: Int) {
      self.who = who
      self.prefix = prefix
      self.max = max
    }
  }

  /// Who may set a provider's `command`. It runs with the daemon's own user (`provider.md`).
  public enum CommandSetters: Sendable, Hashable {
    /// Every admin: the daemon is a user's own, or `[bridge] same_uid` allows it.
    case admins
    /// Root alone: the daemon runs as root.
    case root
    /// Nobody: the daemon has a user of its own, which can read every tenant's state.
    case nobody
  }

  /// Who is admin besides root.
  public var admins: [AccessRule]
  /// Who may create instances besides admins.
  public var create: [CreateRule]
  /// The daemon's own uid where it is admin too: in the user daemon.
  public var ownUid: UInt32?
  /// The hosts and domains that instances of others than admins may talk to; `nil`: the vendors' own.
  public var hosts: [String]?
  /// Who may have the daemon run a provider as its own child.
  public var commands: CommandSetters
  /// The numbers of the names in rules.
  public var names: any NameDirectory

  /// A policy.
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

  /// Whether a peer is admin.
  public func isAdmin(_ peer: Peer) -> Bool {
    peer.uid == 0 || peer.uid == ownUid || admins.contains { matches($0, peer) }
  }

  /// The names in the policy's own rules.
  var requiredNames: Set<SystemName> { Set((admins + create.map(\.who)).flatMap(\.names)) }

  /// The peer's role on an instance; `nil` for none: then the instance is hidden.
  func role(of peer: Peer, on instance: InstanceAccess) -> Role? {
    if isAdmin(peer) { return .admin }
    if owns(instance, peer) { return .owner }
    return instance.access.byRole.first { $0.rules.contains { matches($0, peer) } }?.role
  }

  /// Whether a peer is the owner: who made the instance by a call. An owner that was let in by its unit is that unit,
  /// whose uid can be another service's later.
  func owns(_ instance: InstanceAccess, _ peer: Peer) -> Bool {
    guard instance.source == .api else { return false }
    return instance.ownerRule.map { matches($0, peer) } ?? (peer.uid == instance.owner)
  }

  /// The rule that lets a peer create an instance of this id.
  public func createRule(for peer: Peer, id: InstanceID) -> CreateRule? {
    create.first { id.name.hasPrefix($0.prefix) && matches($0.who, peer) }
  }

  /// Whether all conditions of a rule hold for a peer. What systemd must be asked for comes last, so that it is asked
  /// only where a unit decides.
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
    }
  }
}

extension AccessRule {
  /// Whether a condition is about a unit.
  var namesUnit: Bool { conditions.contains { $0.isAboutUnit } }
}

extension AccessRule.Condition {
  fileprivate var isAboutUnit: Bool {
    switch self {
    case .unit, .userUnit: true
    case .everyone, .user, .uid, .group: false
    }
  }
}
