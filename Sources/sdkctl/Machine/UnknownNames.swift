import JSONRPC
import SDKProtocol

/// The names in access rules that the name service or systemd of this machine does not know. A rule with such a name
/// matches no caller.
enum UnknownNames {
  /// The maximum number of units that systemd is asked about, so that their names fit into a command line.
  private static let mostUnits = 1000

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

  /// Returns the units of the system in all these rules that systemd does not know, sorted; none where systemd does not
  /// run or does not answer in time.
  static func units(in rules: some Sequence<AccessRules>, until deadline: ContinuousClock.Instant) -> [String] {
    let names = Array(Set(rules.flatMap { units(of: $0) }).sorted().prefix(mostUnits))
    let words = ["systemctl", "show", "--property=LoadState,ActiveState", "--"]
    guard !names.isEmpty, .now < deadline, let ended = try? ChildProcess.run(words + names, until: deadline),
      ended.status == 0
    else { return [] }
    return units(names, unknownIn: ended.output)
  }

  /// Returns the units of the system in rules.
  static func units(of rules: AccessRules) -> [String] {
    rules.byRole.flatMap(\.rules).flatMap(\.conditions).compactMap { condition -> String? in
      if case .unit(let name) = condition { name } else { nil }
    }
  }

  /// Returns the units that are unknown by the answer of systemd, which has a paragraph for each, in the same order. A
  /// unit whose file was removed while it runs is still known.
  static func units(_ names: [String], unknownIn answer: String) -> [String] {
    let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
    let paragraphs = lines.split(whereSeparator: \.isEmpty)
    guard paragraphs.count == names.count else { return [] }
    return zip(names, paragraphs).filter { _, paragraph in
      paragraph.contains("LoadState=not-found") && paragraph.contains("ActiveState=inactive")
    }.map(\.0)
  }
}
