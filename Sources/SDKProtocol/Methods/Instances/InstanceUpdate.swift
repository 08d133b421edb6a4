public import JSONRPC

/// `instance.update`: changes an instance's settings, provider, access or labels.
public enum InstanceUpdate: SDKMethod {
  public static let name = "instance.update"
  public static let summary = "Changes an instance's settings, provider, access or labels."
  public static let documentation = """
    Each object is a JSON merge patch: `null` removes a member. Settings and access take the owner, labels
    take control, the provider takes admin. A setting that leads to another backend is a change of identity
    and wipes. Errors: ownedByFile for an instance from a file, invalidParams.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let errors: [DeclaredError] = [
    DeclaredError("ownedByFile", .state, [.ownedByFile]), .settings, .logoutInProgress,
    DeclaredError("providerNotAllowed", .provider, [.providerNotAllowed]),
  ]
  public static let example = MethodExample(
    ["instance": "front-desk", "labels": ["floor": "2"]],
    result: MethodExample.instance(floor: "2"))

  /// The params of `instance.update`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The merge patch of the settings.
    public var settings: JSONObject?
    /// The merge patch of the provider; `null` removes the provider.
    public var provider: JSON?
    /// The merge patch of the access rules.
    public var access: JSONObject?
    /// The merge patch of the labels.
    public var labels: JSONObject?

    /// Creates params with these members.
    public init(
      instance: InstanceID, settings: JSONObject? = nil, provider: JSON? = nil, access: JSONObject? = nil,
      labels: JSONObject? = nil
    ) {
      self.instance = instance
      self.settings = settings
      self.provider = provider
      self.access = access
      self.labels = labels
    }

    /// Decodes the params. Not synthesized, because a `null` for `provider` differs from an absent member.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      instance = try container.decode(InstanceID.self, forKey: .instance)
      settings = try container.decodeIfPresent(JSONObject.self, forKey: .settings)
      if container.contains(.provider) { provider = try container.decode(JSON.self, forKey: .provider) }
      access = try container.decodeIfPresent(JSONObject.self, forKey: .access)
      labels = try container.decodeIfPresent(JSONObject.self, forKey: .labels)
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("settings", .map(.any), "merge patch of the settings"),
      .optional("provider", .oneOf([.map(.any), .null]), "merge patch of the provider; null removes it"),
      .optional("access", .map(.any), "merge patch of the access rules"),
      .optional("labels", .map(.any), "merge patch of the labels"),
    ])
  }

  public typealias Result = Instance
}
