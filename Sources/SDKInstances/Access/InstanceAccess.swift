import JSONRPC
import SDKProtocol

/// The part of a definition that decides which callers see an instance and its events, and which filters match them.
struct InstanceAccess: Sendable, Hashable, Codable {
  var owner: UInt32
  /// The create rule by which the instance was created, if the rule names a unit: then the unit is the owner. `nil` if
  /// the uid is the owner.
  var ownerRule: AccessRule?
  var source: Instance.Source
  var access: AccessRules
  @UTF8Texts var labels: [String: String]
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

  /// The number of UTF-8 bytes in the rules and labels.
  var byteCount: Int {
    access.byRole.reduce(0) { $0 + $1.rules.reduce(0) { $0 + $1.text.utf8.count } } + labelBytes
      + (ownerRule?.text.utf8.count ?? 0)
  }

  private var labelBytes: Int { labels.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }

  /// The names that must be resolved before the rules can match.
  var names: Set<SystemName> { access.names.union(ownerRule?.names ?? []) }

  /// Returns this access reduced to at most `limit` bytes. Rules that don't fit are dropped, those of the weakest role
  /// first. All labels are dropped if they alone take more than half of `limit`. The result never admits more callers.
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
  /// The part of the definition that decides which callers see the instance and its events.
  var instanceAccess: InstanceAccess {
    InstanceAccess(owner: owner, ownerRule: ownerRule, source: source, access: access, labels: labels)
  }
}
