import SDKProtocol

/// The access rules of an instance, arranged by the ids in them. A look-up takes equally long however many rules there
/// are, so its duration does not reveal a hidden instance.
///
/// Each rule is filed under one id that a peer needs to match it: a uid, a group or a unit. Names are resolved when the
/// table is made. A rule with a name that has no number matches no peer and is left out.
final class RoleTable: Sendable {
  private enum Condition {
    case uid(UInt32)
    case gid(UInt32)
    case unit(String)
    case userUnit(String, uid: UInt32)
    case userScope(String, uid: UInt32)
  }

  private struct Grant {
    let role: Role
    /// The conditions that must hold, those on units last.
    let conditions: [Condition]
    let namesUnit: Bool
  }

  /// The access that the table was made from.
  let access: InstanceAccess
  /// The uid that owns the instance; `nil` if a unit does, or none because a file defines it.
  private let owner: UInt32?
  /// The role of every peer, by the rule `*`.
  private let everyone: Role?
  private let byUid: [UInt32: [Grant]]
  private let byGid: [UInt32: [Grant]]
  /// The grants by units and applications.
  private let byProcess: [RoleIndex.Principal: [Grant]]
  /// The strongest role that depends on a unit; `nil` if none does.
  private let strongestOfUnits: Role?

  /// Makes the table of an instance, with the numbers that its names have now.
  init(_ access: InstanceAccess, names: any NameDirectory) {
    self.access = access
    var everyone: Role?
    var (byUid, byGid): ([UInt32: [Grant]], [UInt32: [Grant]]) = ([:], [:])
    var byProcess: [RoleIndex.Principal: [Grant]] = [:]
    var strongestOfUnits: Role?
    func file(_ role: Role, _ rule: AccessRule) {
      guard let conditions = Self.resolve(rule, names) else { return }
      guard let key = conditions.first else {
        everyone = max(everyone ?? role, role)
        return
      }
      let entry = Grant(role: role, conditions: conditions, namesUnit: rule.namesUnit)
      if rule.namesUnit { strongestOfUnits = max(strongestOfUnits ?? role, role) }
      switch key {
      case .uid(let uid): byUid[uid, default: []].append(entry)
      case .gid(let gid): byGid[gid, default: []].append(entry)
      case .unit(let unit), .userUnit(let unit, _): byProcess[.unit(unit), default: []].append(entry)
      case .userScope(let name, _): byProcess[.application(name), default: []].append(entry)
      }
    }
    let isOwned = access.source == .api
    owner = isOwned && access.ownerRule == nil ? access.owner : nil
    if isOwned, let rule = access.ownerRule { file(.owner, rule) }
    for (role, rules) in access.access.byRole { for rule in rules { file(role, rule) } }
    self.everyone = everyone
    self.byUid = byUid
    self.byGid = byGid
    self.byProcess = byProcess
    self.strongestOfUnits = strongestOfUnits
  }

  /// Returns the conditions of a rule without `*`, those on units last; `nil` if a name has no number.
  private static func resolve(_ rule: AccessRule, _ names: any NameDirectory) -> [Condition]? {
    var (ids, units): ([Condition], [Condition]) = ([], [])
    for condition in rule.conditions {
      switch condition {
      case .everyone: break
      case .uid(let uid): ids.append(.uid(uid))
      case .user(let name):
        guard let uid = names.uid(ofUser: name) else { return nil }
        ids.append(.uid(uid))
      case .group(let name):
        guard let gid = names.gid(ofGroup: name) else { return nil }
        ids.append(.gid(gid))
      case .unit(let unit): units.append(.unit(unit))
      case .userUnit(let unit, let user):
        guard let uid = names.uid(ofUser: user) else { return nil }
        units.append(.userUnit(unit, uid: uid))
      case .userScope(let name, let user):
        guard let uid = names.uid(ofUser: user) else { return nil }
        units.append(.userScope(name, uid: uid))
      }
    }
    return ids + units
  }

  /// Returns the strongest role that the rules give a peer, ownership included; `nil` for none.
  ///
  /// The peer's process is looked up only if a unit could give a stronger role than the peer's ids.
  func role(of peer: Peer) -> Role? {
    if peer.uid == owner { return .owner }
    var best = everyone
    raise(&best, for: peer, withUnits: false)
    if let strongestOfUnits, best.map({ $0 < strongestOfUnits }) ?? true { raise(&best, for: peer, withUnits: true) }
    return best
  }

  private func raise(_ best: inout Role?, for peer: Peer, withUnits: Bool) {
    func consider(_ entries: [Grant]?) {
      guard let entries else { return }
      for entry in entries where entry.namesUnit == withUnits && best.map({ $0 < entry.role }) ?? true {
        if entry.conditions.allSatisfy({ Self.holds($0, peer) }) { best = entry.role }
      }
    }
    if !byUid.isEmpty { consider(byUid[peer.uid]) }
    if !byGid.isEmpty {
      consider(byGid[peer.gid])
      for group in peer.groups { consider(byGid[group]) }
    }
    guard withUnits, !byProcess.isEmpty else { return }
    for key in peer.process.principals { consider(byProcess[key]) }
  }

  private static func holds(_ condition: Condition, _ peer: Peer) -> Bool {
    switch condition {
    case .uid(let uid): peer.uid == uid
    case .gid(let gid): peer.gid == gid || peer.groups.contains(gid)
    case .unit(let unit): peer.process.unit == unit
    case .userUnit(let unit, let uid): peer.process.userUnit.map { $0.unit == unit && $0.uid == uid } ?? false
    case .userScope(let name, let uid): peer.process.userUnit.map { $0.application == name && $0.uid == uid } ?? false
    }
  }

  /// The ids that the rules are filed under. A peer with none of them has no role.
  var keys: Set<RoleIndex.Principal> {
    var keys = Set(byUid.keys.map(RoleIndex.Principal.uid))
    keys.formUnion(byGid.keys.map(RoleIndex.Principal.gid))
    keys.formUnion(byProcess.keys)
    if everyone != nil { keys.insert(.everyone) }
    if let owner { keys.insert(.uid(owner)) }
    return keys
  }
}

extension InstanceAccess {
  /// Whether another access gives the same roles, for the same reasons.
  func grantsLike(_ other: Definition) -> Bool {
    owner == other.owner && source == other.source && ownerRule == other.ownerRule && access == other.access
  }
}
