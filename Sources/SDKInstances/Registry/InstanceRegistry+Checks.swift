import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
import StateStore
import Synchronization

extension InstanceRegistry {
  /// Checks that a peer may set the members of a definition. The shape of its settings is checked elsewhere.
  ///
  /// - Parameter former: the definition that is replaced; `nil` for a new instance.
  /// - Throws: `accessDenied` for members that only an admin may set, `invalidParams` with the member.
  public func check(_ definition: Definition, replacing former: Definition?, by peer: Peer) throws {
    try definition.checkLimits()
    guard let kind = kind(definition.kind) else { return }
    try checkFaults(of: kind, definition, replacing: former)
    if access.isAdmin(peer) {
      for (name, url) in kind.settings.hiddenURLs(definition.settings)
      where definition.settings[name] != former?.settings[name] {
        try supplied(kind, definition).check(url, what: "settings.\(name)")
      }
      return try checkCommand(definition, replacing: former, by: peer)
    }
    if definition.provider != former?.provider {
      throw SDKError.accessDenied("The provider is a program that the daemon runs; only an admin may set it.")
    }
    for name in kind.settings.adminOnly where definition.settings[name] != former?.settings[name] {
      throw SDKError.accessDenied("The setting \(name) names a file or a proxy; only an admin may set it.")
    }
    let hidden = kind.settings.hiddenURLs(definition.settings)
    for name in kind.settings.urls.union(hidden.keys) where definition.settings[name] != former?.settings[name] {
      guard let url = hidden[name] ?? definition.settings[name]?.stringValue, let host = URLRule.parts(url)?.host
      else { continue }
      if lists(host, for: kind), !URLRule.isLoopback(url) { continue }
      throw SDKError.accessDenied(
        "The setting \(name) leads to \(host), which [network] allow does not list; only an admin may set it.")
    }
  }

  /// Checks new settings for faults. Stored ones keep theirs, and the calls that use such a setting fail.
  private func checkFaults(
    of kind: any SDKKind, _ definition: Definition, replacing former: Definition?
  ) throws(RPCError) {
    let known = former.map { kind.settings.faults($0.settings) } ?? []
    for fault in kind.settings.faults(definition.settings) where !known.contains(fault) {
      let member = "settings.\(fault.setting)"
      throw .invalidParams("The member \(member) \(fault.sentence)", member: member)
    }
  }

  /// Checks `provider.command`, which runs as a child of the daemon: an admin other than root must not gain rights by
  /// it.
  private func checkCommand(_ definition: Definition, replacing former: Definition?, by peer: Peer) throws(SDKError) {
    guard let command = definition.provider?["command"], definition.provider != former?.provider, command != .null
    else { return }
    switch access.commands {
    case .admins: return
    case .root where peer.uid == 0: return
    case .root:
      throw SDKError(
        .provider, .providerNotAllowed,
        "This daemon runs as root, and so would provider.command; only root may set it, or use provider.unit.",
        member: "provider.command")
    case .nobody: throw .commandNeedsSameUid
    }
  }

  /// Whether `[network] allow`, or without it the list of the vendor's own domains, contains a host.
  private func lists(_ host: String, for kind: any SDKKind) -> Bool {
    (access.hosts ?? kind.settings.vendorDomains).contains { host == $0 || host.hasSuffix(".\($0)") }
  }

  /// Checks a URL that a caller supplies in a call.
  ///
  /// - Throws: `invalidAuthParameters`, `accessDenied`.
  public func checkSupplied(
    _ url: String, what: String, on instance: HostedInstance, by peer: Peer
  ) throws(SDKError) {
    guard let kind = kind(instance.kind), !access.isAdmin(peer) else { return try URLRule.check(url, setting: what) }
    try supplied(kind, instance.currentDefinition).check(url, what: what)
  }

  /// Returns the rule for URLs that come from outside a definition.
  func supplied(_ kind: any SDKKind, _ definition: Definition) -> SuppliedURLRule {
    kind.settings.supplied(definition.settings, allowing: access.hosts, isOfAdmin: isMadeByAdmin(definition))
  }

  /// Whether a file or an admin defined an instance, so that the hosts that it names may be on this machine.
  func isMadeByAdmin(_ definition: Definition) -> Bool {
    definition.source == .file || access.isAdmin(Peer(pid: 0, uid: definition.owner, gid: UInt32.max))
  }

  /// Checks that a peer may create an instance of this id.
  ///
  /// - Returns: the create rule if it names a unit, which is then the owner; `nil` if the uid is the owner.
  /// - Throws: `accessDenied`, before existence is checked; `tooManyInstances`.
  public func checkCreation(of id: InstanceID, by peer: Peer) throws(SDKError) -> AccessRule? {
    if access.isAdmin(peer) { return nil }
    guard let rule = access.createRule(for: peer, id: id) else { throw Self.noRule(id) }
    try checkQuota(of: peer, for: id)
    if rule.who.namesUnit { return rule.who }
    if Self.dynamicUids.contains(peer.uid) {
      logger.warning(
        """
        The owner \(peer.uid) is a uid that systemd gives to another service later, which would then own the instance. \
        Put unit: into the [[access.create]] rule: the unit is the owner then.
        """, metadata: ["instance": "\(id)"])
    }
    return nil
  }

  /// Checks that the user of a peer owns fewer instances than its create rule and the daemon allow. Admins have no
  /// maximum.
  ///
  /// - Parameter number: the number of the peer's own creation. Those with a lower number that are being committed count
  ///   too; `nil` counts all of them.
  /// - Throws: `tooManyInstances`.
  func checkQuota(of peer: Peer, for id: InstanceID, before number: Int? = nil) throws(SDKError) {
    let access = access
    if access.isAdmin(peer) { return }
    guard let rule = access.createRule(for: peer, id: id) else { throw Self.noRule(id) }
    // By UUID: an instance that has become an entry meanwhile counts once.
    var owned: [InstanceUUID: InstanceID] = [:]
    for (uuid, entry) in arriving.withLock({ $0 }) where number.map({ entry.number < $0 }) ?? true {
      if access.counts(entry.access, for: peer) { owned[uuid] = entry.id }
    }
    let user = access.names.user(of: peer.uid)
    let ofUser = roles.candidates { access.names.user(of: $0) == user }
    for entry in look(at: ofUser.union(roles.candidates(for: peer) ?? [])) {
      guard case .hosted(let instance) = entry, access.counts(instance.currentAccess, for: peer) else { continue }
      owned[instance.uuid] = instance.id
    }
    for (prefix, limit) in [(rule.prefix, rule.max), ("", limits().perUser)]
    where owned.values.count(where: { $0.name.hasPrefix(prefix) }) >= limit {
      throw SDKError(
        .limit, .tooManyInstances,
        "This user has \(limit) instances already, subordinate uids included; delete one first.", instance: id)
    }
  }

  /// The uids of services with `DynamicUser=` (systemd.exec(5)).
  private static let dynamicUids: ClosedRange<UInt32> = 61_184...65_519
}

/// The limits on instances. Admins have none.
public struct InstanceLimits: Sendable, Hashable {
  /// The number of instances that one user may own, whatever its create rules say.
  public var perUser = 20

  /// Creates the documented limits.
  public init() {}
}

extension InstanceRegistry {
  /// Decides whether an arriving write takes its place in the order of each instance that it names.
  ///
  /// A missing instance may be one that the caller is just creating. Permissions are checked again when the write runs.
  ///
  /// - Returns: the instances in whose order it waits, or the error that refuses it at once.
  func admit(
    _ ids: [InstanceID], to method: MethodAccess, for peer: Peer
  ) -> (written: [InstanceID], refusal: SDKError?) {
    let access = access
    if access.isAdmin(peer) { return (ids, nil) }
    switch method {
    case .anyone: return (ids.filter { hosted($0).map { role(of: peer, on: $0) != nil } ?? false }, nil)
    case .creator:
      let outside = ids.first { access.createRule(for: peer, id: $0) == nil }
      return outside.map { ([], Self.noRule($0)) } ?? (ids, nil)
    case .role(let needed):
      for id in ids {
        if !isKnown(id), access.createRule(for: peer, id: id) != nil { continue }
        do throws(SDKError) { _ = try find(id, for: peer, atLeast: needed) } catch { return ([], error) }
      }
      return (ids, nil)
    }
  }

  private static func noRule(_ id: InstanceID) -> SDKError {
    .accessDenied("No rule lets the caller create \(id); an admin can add one under [[access.create]].")
  }

  /// Whether callers with a role get only the digest of a user's external id. Observers do where the id is a secret.
  func conceals(_ instance: HostedInstance, from role: Role) -> Bool {
    role < .use && kind(instance.kind)?.concealsExternalId == true
  }
}
