import JSONRPC
import SDKProtocol

/// The names in access rules that the name service of this machine does not know. A rule with such a name matches no
/// caller.
enum UnknownNames {
  /// Returns a sentence for each unknown name in the rules, at most ten; none if `getent` does not answer in time.
  static func sentences(in rules: AccessRules, until deadline: ContinuousClock.Instant) -> [String] {
    var (users, groups): ([String], [String]) = ([], [])
    for condition in rules.byRole.flatMap(\.rules).flatMap(\.conditions) {
      switch condition {
      case .user(let name), .userUnit(_, let name), .userScope(_, let name): users.append(name)
      case .group(let name): groups.append(name)
      case .everyone, .uid, .unit: continue
      }
    }
    let sentences =
      unknown(users, in: "passwd", deadline).map { "There is no user \($0), so its rule matches no caller." }
      + unknown(groups, in: "group", deadline).map { "There is no group \($0), so its rule matches no caller." }
    return Array(sentences.prefix(10))
  }

  private static func unknown(
    _ names: [String], in database: String, _ deadline: ContinuousClock.Instant
  ) -> [String] {
    let names = Set(names).sorted()
    // getent ends with 2 when it does not find one of the names.
    guard !names.isEmpty, .now < deadline,
      let ended = try? ChildProcess.run(["getent", database, "--"] + names, until: deadline),
      [0, 2].contains(ended.status)
    else { return [] }
    let known = Set(ended.output.split(separator: "\n").map { String($0.prefix { $0 != ":" }) })
    return names.filter { !known.contains($0) }
  }
}
