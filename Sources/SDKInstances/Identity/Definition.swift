public import DelegateBridge
public import JSONRPC
public import SDKProtocol

/// What an instance is, as it was asked for: kind, settings, provider, access. A wipe leaves it.
public struct Definition: Sendable, Hashable, Codable {
  /// What becomes of the vendor's session when the file of an instance is gone.
  public enum OnRemove: String, Sendable, Codable, CaseIterable {
    /// The instance is deleted here; the vendor's session runs out.
    case delete
    /// The vendor's session is ended first.
    case logout
  }

  /// The SDK.
  public var kind: KindName
  /// Whether a file or a call made it.
  public var source: Instance.Source
  /// The uid of who made it.
  public var owner: UInt32
  /// The rule that let its maker create it, if that names a unit: then the unit is the owner, whatever its uid.
  public var ownerRule: AccessRule?
  /// The kind's settings as they were given.
  public var settings: JSONObject
  /// The token provider as it was given.
  public var provider: JSONObject?
  /// Who may do what.
  public var access: AccessRules
  /// The operator's labels.
  public var labels: [String: String]
  /// What becomes of the vendor's session when its file is gone; `nil` is `delete`.
  public var onRemove: OnRemove?

  /// A definition with these parts.
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

  /// The uid whose share of the running providers is used; `nil` for an instance of a file, which counts for itself.
  public var providerOwner: UInt32? { source == .file ? nil : owner }

  /// The provider as its type reads it.
  ///
  /// - Throws: `invalidParams` with the member's path.
  public func providerConfiguration() throws(RPCError) -> ProviderConfiguration? {
    guard let provider else { return nil }
    return try Settings.decode(ProviderConfiguration.self, from: provider, at: "provider")
  }
}
