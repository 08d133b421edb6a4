import JSONRPC
import SDKProtocol

@testable import SDKInstances

extension FuzzTarget {
  /// Access rules: as JSON, or one in each line. Also the ranges of subordinate uids.
  static let access = FuzzTarget("access") { input in
    for line in input.lines { if let rule = AccessRule(line) { check(rule, line) } }
    check(SubordinateUids(input.bytes))
    guard let json = try? JSONParser.parse(input.bytes) else { return }
    if let rules = try? JSONValueDecoder.decode(AccessRules.self, from: json) { check(rules) }
    if let rules = try? JSONValueDecoder.decode(StoredAccessRules.self, from: json).rules {
      check(rules)
      let access = InstanceAccess(owner: 1000, source: .api, access: rules, labels: ["a": input.text])
      require(access.bounded(to: 1024).byteCount <= 1024, "Bounded access is over its bound.")
      _ = policy.role(of: Peer(pid: 1, uid: 1001, gid: 1001), by: RoleTable(access, names: policy.names))
    }
  }

  private static func check(_ uids: SubordinateUids) {
    for (range, next) in zip(uids.ranges, uids.ranges.dropFirst()) {
      require(range.last < next.first, "Two ranges overlap.")
    }
    for range in uids.ranges {
      require(range.first > 0 && range.first <= range.last && range.last < .max, "A range has a reserved uid.")
      require(uids.range(of: range.first) == range && uids.range(of: range.last) == range, "A range is not found.")
    }
  }

  private static let policy = AccessPolicy(names: NoNames())

  private static func check(_ rules: AccessRules) {
    for (role, rules) in rules.byRole {
      require(rules.count <= AccessRules.maximumPerRole, "The role \(role.name) has \(rules.count) rules.")
      for rule in rules { check(rule, rule.text) }
    }
  }

  private static func check(_ rule: AccessRule, _ text: String) {
    require(rule.text.utf8.elementsEqual(text.utf8) && text.utf8.count <= 512, "A rule has another text.")
    require(AccessRule(rule.text) == rule, "A rule is another one when it is read again.")
    for condition in rule.conditions {
      switch condition {
      case .uid(let uid):
        let digits = text.split(separator: "+").map { $0.dropFirst("uid:".count) }
        require(
          uid != .max && digits.contains { UInt32($0) == uid && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } },
          "\(text) is a rule for the uid \(uid).")
      case .user(let name), .group(let name), .userUnit(_, let name):
        require(!name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(text) names nobody.")
      case .unit, .everyone: break
      }
    }
    _ = policy.matches(rule, Peer(pid: 1, uid: 1001, gid: 1001, process: PeerProcess(unit: "a.service")))
  }
}

/// A machine without users.
final class NoNames: NameDirectory {
  func uid(ofUser name: String) -> UInt32? { nil }
  func gid(ofGroup name: String) -> UInt32? { nil }
  func request(_ names: Set<SystemName>, for owner: UInt32) {}
}
