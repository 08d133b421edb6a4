public import DelegateBridge
public import JSONRPC
public import SDKProtocol

/// The definition of an instance, as it was requested: kind, settings, provider, access. A wipe keeps it.
public struct Definition: Sendable, Hashable, Codable {
  /// The action on the vendor's session when the configuration file of an instance is removed.
  public enum OnRemove: String, Sendable, Codable, CaseIterable {
    /// The instance is deleted, and the vendor's session expires by itself.
    case delete
    /// The vendor's session is ended before the instance is deleted.
    case logout
  }

  /// The kind of SDK.
  public var kind: KindName
  /// The origin of the instance: a configuration file or a call.
  public var source: Instance.Source
  /// The uid of the caller that created the instance.
  public var owner: UInt32
  /// The create rule by which the instance was created, if the rule names a unit. The unit is then the owner, whatever
  /// its uid is.
  public var ownerRule: AccessRule?
  /// The kind's settings as JSON, unchanged from the request or file.
  public var settings: JSONObject
  /// The token provider as JSON, unchanged from the request or file; `nil` without one.
  public var provider: JSONObject?
  /// The access rules: which callers have which role.
  public var access: AccessRules
  /// The operator's labels.
  @UTF8Texts public var labels: [String: String]
  /// The action on the vendor's session when the instance's configuration file is removed; `nil` means `delete`.
  public var onRemove: OnRemove?

  /// Creates a definition with these parts.
  public init(
    kind: KindName, source: Instance.Source, owner: UInt32, ownerRule: AccessRule? = nil, settings: JSONObject,
    provider: JSONObject? = nil, access: AccessRules = AccessRules(), labels: [String: String] = [:],
    onRemove: OnRemove? = nil
  ) {
    self.kind = kind
    self.source = source
    self.owner = owner
    self.ownerRule = ownerRule
    self.settings = settings
    self.provider = provider
    self.access = access
    self.labels = labels
    self.onRemove = onRemove
  }

  /// The owner of the connections for the instance.
  var connectionOwner: ConnectionOwner {
    if source == .file { return .daemon }
    return ownerRule.map { .unit($0) } ?? .user(owner)
  }

  /// The maximum size of the access rules in an event, in bytes of JSON.
  private static let maximumRulesInEvent = 4096

  /// Returns what differs in another definition, as the data of the event `instanceUpdated`.
  func changes(to new: Definition) throws -> JSONObject {
    let parts = [
      ("settings", settings == new.settings), ("provider", provider == new.provider), ("access", access == new.access),
      ("labels", _labels == new._labels), ("on_remove", onRemove == new.onRemove),
    ].filter { !$0.1 }.map(\.0)
    var data: JSONObject = ["changed": .array(parts.map(JSON.string))]
    guard access != new.access else { return data }
    let rules = try JSONValueEncoder.encode(new.access)
    if JSONWriter.bytes(of: rules).count <= Self.maximumRulesInEvent { data["access"] = rules }
    return data
  }

  /// Decodes a stored definition.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    kind = try container.decode(KindName.self, forKey: .kind)
    source = try container.decode(Instance.Source.self, forKey: .source)
    owner = try container.decode(UInt32.self, forKey: .owner)
    ownerRule = try container.decodeIfPresent(AccessRule.self, forKey: .ownerRule)
    settings = try container.decode(JSONObject.self, forKey: .settings)
    provider = try container.decodeIfPresent(JSONObject.self, forKey: .provider)
    access = try container.decode(StoredAccessRules.self, forKey: .access).rules
    labels = try container.decode([String: String].self, forKey: .labels)
    onRemove = try container.decodeIfPresent(OnRemove.self, forKey: .onRemove)
  }

  /// The uid against whose quota of running providers the instance counts; `nil` for an instance that a file defines,
  /// which has a quota of its own.
  public var providerOwner: UInt32? { source == .file ? nil : owner }

  /// Returns the decoded provider; `nil` without one.
  ///
  /// - Throws: `invalidParams` with the member's path.
  public func providerConfiguration() throws(RPCError) -> ProviderConfiguration? {
    guard let provider else { return nil }
    return try Settings.decode(ProviderConfiguration.self, from: provider, at: "provider")
  }
}

/// The access rules of a stored definition. Rules that a former version accepted and this one refuses are dropped, so
/// that the instance stays readable. Rules beyond the maximum per role are dropped too.
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
