import JSONRPC
import SDKProtocol

/// The part of a definition that decides who sees an instance and its events, and which filters let them through.
struct InstanceAccess: Sendable, Hashable, Codable {
  var owner: UInt32
  /// The rule that made the owner one, if it names a unit.
  var ownerRule: AccessRule?
  var source: Instance.Source
  var access: AccessRules
  var labels: [String: String]
}

extension InstanceAccess {
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    owner = try container.decode(UInt32.self, forKey: .owner)
    ownerRule = try container.decodeIfPresent(AccessRule.self, forKey: .ownerRule)
    source = try container.decode(Instance.Source.self, forKey: .source)
    access = try container.decode(StoredAccessRules.self, forKey: .access).rules
    labels = try container.decode([String: String].self, forKey: .labels)
  }

  /// The UTF-8 bytes of rules and labels.
  var byteCount: Int {
    access.byRole.reduce(0) { $0 + $1.rules.reduce(0) { $0 + $1.text.utf8.count } } + labelBytes
      + (ownerRule?.text.utf8.count ?? 0)
  }

  private var labelBytes: Int { labels.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }

  /// The names that must be resolved before the rules can match.
  var names: Set<SystemName> { access.names.union(ownerRule?.names ?? []) }

  /// Returns the same with at most `limit` bytes. Rules that don't fit are dropped, the weakest role's first, and so are
  /// all labels if they alone are too many: fewer callers see the instance then, never more.
  func bounded(to limit: Int) -> InstanceAccess {
    guard byteCount > limit else { return self }
    var result = self
    if labelBytes > limit / 2 { result.labels = [:] }
    result.access = AccessRules()
    var room = limit - result.byteCount
    func fitting(_ rules: [AccessRule]?) -> [AccessRule]? {
      rules.map { rules in
        rules.filter { rule in
          guard rule.text.utf8.count <= room else { return false }
          room -= rule.text.utf8.count
          return true
        }
      }
    }
    result.access.control = fitting(access.control)
    result.access.use = fitting(access.use)
    result.access.observe = fitting(access.observe)
    return result
  }
}

extension Definition {
  /// The part that decides who sees the instance.
  var instanceAccess: InstanceAccess {
    InstanceAccess(owner: owner, ownerRule: ownerRule, source: source, access: access, labels: labels)
  }
}

/// Access rules as they are stored. Rules that a former version took and this one refuses match nobody, so they are
/// left out rather than make the instance unreadable; so are those past the number that a role can have.
struct StoredAccessRules: Decodable {
  let rules: AccessRules

  private enum CodingKeys: String, CodingKey { case observe, use, control }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func read(_ key: CodingKeys) throws -> [AccessRule]? {
      try container.decodeIfPresent([String].self, forKey: key).map {
        Array($0.lazy.compactMap { AccessRule($0) }.prefix(AccessRules.maximumPerRole))
      }
    }
    rules = AccessRules(observe: try read(.observe), use: try read(.use), control: try read(.control))
  }
}
