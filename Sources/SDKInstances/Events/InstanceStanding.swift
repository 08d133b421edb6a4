import SDKProtocol

/// What of an instance decides who sees its events and which filters let them through.
struct InstanceStanding: Sendable, Hashable, Codable {
  var owner: UInt32
  var source: Instance.Source
  var access: AccessRules
  var labels: [String: String]
}

extension Definition {
  var standing: InstanceStanding {
    InstanceStanding(owner: owner, source: source, access: access, labels: labels)
  }
}
