import JSONRPC
import JSONRPCTransport
import SDKProtocol

@testable import SDKInstances
@testable import sdkd

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
      case .user(let name), .group(let name), .userUnit(_, let name), .userScope(_, let name):
        require(!name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(text) names nobody.")
      case .unit, .everyone: break
      }
    }
    let scope = PeerProcess.UserUnit(unit: "app-\(text).scope", uid: 1001)
    let process = PeerProcess(unit: "a.service", userUnit: scope)
    _ = policy.matches(rule, Peer(pid: 1, uid: 1001, gid: 1001, process: process))
    require(scope.application?.isEmpty != true, "\(scope.unit) is a scope of an application without a name.")
  }
}

extension FuzzTarget {
  /// Users with subordinate uids. The first part is the file of their ranges, the second has the uids that connect, one in
  /// each line. A line `-` ends the oldest connection.
  static let subordinates = FuzzTarget("subordinates", maximumLength: 4 << 10, costFactor: 120) { input in
    let parts = input.parts
    guard parts.count == 2 else { return }
    let file = Array(parts[0])
    let names = ResolvedNames(readSubordinates: { file }, lookUp: SubordinateUsers.lookUp) { $0() }
    let lines = SubordinateUsers.lines(file)
    let allowances = UserAllowances(limits)
    var (open, now): ([(user: UInt32, allowance: Allowance)], UInt64) = ([], 0)
    for word in parts[1].split(separator: UInt8(ascii: "\n")).prefix(256) {
      now += 1_000_000_000
      if word.elementsEqual("-".utf8) {
        if !open.isEmpty { allowances.end(open.removeFirst().allowance) }
        continue
      }
      guard let uid = UInt32(String(decoding: word, as: UTF8.self)) else { continue }
      // The first call asks who the owner is.
      _ = names.user(of: uid)
      let user = names.user(of: uid)
      SubordinateUsers.check(user, of: uid, lines)
      checkRights(of: uid, as: user, names)
      let isStranger = uid % 2 == 1
      let own = open.count { $0.user == user }
      switch allowances.admit(user, isStranger: isStranger, at: now) {
      case .admitted(let allowance?):
        require(own < limits.perUser && open.count < limits.total, "\(user) has \(own) connections and gets another.")
        open.append((user, allowance))
      case .refused:
        require(
          own == limits.perUser || open.count == limits.total
            || isStranger && allowances.counts.strangers == limits.strangers, "\(uid) is refused.")
      case .admitted(nil), .pending: fatalError("\(uid) has no quota.")
      }
      require(allowances.counts.strangers <= limits.strangers, "Strangers have more than their part.")
    }
    for (_, allowance) in open { allowances.end(allowance) }
    require(allowances.counts.connections == 0 && allowances.counts.strangers == 0, "Ended connections are counted.")
  }

  private static let limits = ConnectionLimits(perUser: 3, total: 8)

  /// A subordinate uid has no right of its owner.
  private static func checkRights(of uid: UInt32, as user: UInt32, _ names: ResolvedNames) {
    guard uid != user, let rule = AccessRule("uid:\(user)") else { return }
    let access = InstanceAccess(owner: user, source: .api, access: AccessRules(control: [rule]), labels: [:])
    let peer = Peer(pid: 1, uid: uid, gid: uid, user: user)
    let policy = AccessPolicy(names: names)
    require(policy.role(of: peer, by: RoleTable(access, names: names)) == nil, "\(uid) has the rights of \(user).")
  }
}

/// The users of a machine with subordinate uids, found in a plainer way than the daemon does.
private enum SubordinateUsers {
  typealias Line = (owner: [UInt8], first: UInt64, last: UInt64)

  /// Names that begin with `x` are unknown, and every sixteenth uid has an account of its own.
  @Sendable static func lookUp(_ name: SystemName) -> NameService.Answer {
    switch name.database {
    case .users: name.text.hasPrefix("x") ? .unknown : .number(number(of: Array(name.text.utf8)))
    case .uids: hasAccount(UInt32(name.text) ?? 0) ? .number(UInt32(name.text) ?? 0) : .unknown
    case .groups: .unknown
    }
  }

  private static func hasAccount(_ uid: UInt32) -> Bool { uid % 16 == 7 }

  private static func number(of name: [UInt8]) -> UInt32 { name.reduce(0) { ($0 &* 31 &+ UInt32($1)) % 60_000 } + 1 }

  static func lines(_ file: [UInt8]) -> [Line] {
    file.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(Array.init)
      guard fields.count == 3, (1...256).contains(fields[0].count), let first = digits(fields[1]),
        let count = digits(fields[2]), first > 0, count > 0, first < UInt64(UInt32.max)
      else { return nil }
      return (fields[0], first, min(first + count - 1, UInt64(UInt32.max) - 1))
    }
  }

  private static func digits(_ text: [UInt8]) -> UInt64? {
    guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt32(String(decoding: text, as: UTF8.self)).map(UInt64.init)
  }

  /// Checks the user that a uid counts for: of the ranges that have it, the one that begins first decides.
  static func check(_ user: UInt32, of uid: UInt32, _ lines: [Line]) {
    let all = lines.filter { ($0.first...$0.last).contains(UInt64(uid)) }
    guard uid != 0, !hasAccount(uid), let first = all.map(\.first).min(),
      let last = all.filter({ $0.first == first }).map(\.last).max()
    else {
      require(user == uid, "\(uid) counts for \(user), and is no subordinate uid.")
      return
    }
    // Of two equal ranges, either may decide.
    let possible = all.filter { $0.first == first && $0.last == last }.contains { line in
      if let number = digits(line.owner) { return user == number }
      if line.owner.first == UInt8(ascii: "x") { return (first...UInt64(uid)).contains(UInt64(user)) }
      return user == number(of: Array(String(decoding: line.owner, as: UTF8.self).utf8))
    }
    require(possible, "\(uid) counts for \(user), which owns no such range.")
  }
}

/// A machine without users.
final class NoNames: NameDirectory {
  func uid(ofUser name: String) -> UInt32? { nil }
  func gid(ofGroup name: String) -> UInt32? { nil }
  func request(_ names: Set<SystemName>, for owner: UInt32) {}
}
