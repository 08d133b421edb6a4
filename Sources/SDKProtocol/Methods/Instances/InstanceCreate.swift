public import JSONRPC

/// `instance.create`: creates an instance.
public enum InstanceCreate: SDKMethod {
  public static let name = "instance.create"
  public static let summary = "Makes an instance."
  public static let documentation = """
    Makes an instance of a kind. The caller becomes its owner. A provider and settings that name a file take
    admin. Errors: instanceExists, accessDenied outside the caller's prefix, tooManyInstances, invalidParams
    for a setting that the kind does not have, with the nearest known one.
    """
  public static let access = MethodAccess.creator
  public static let ordering = MethodOrdering.write(waits: false)
  public static let errors: [DeclaredError] = [
    DeclaredError("instanceExists", .existing, [.instanceExists]), .settings,
    DeclaredError("providerNotAllowed", .provider, [.providerNotAllowed]),
    DeclaredError("instanceLimits", .limit, [.tooManyInstances]),
  ]
  public static let example = MethodExample(
    [
      "instance": "front-desk",
      "kind": "zendesk.messaging",
      "settings": ["base_url": "https://acme.zendesk.com/sc", "app_id": "5f0000000000000000000001", "realtime": "off"],
      "provider": ["command": ["/usr/libexec/sdkd/mint-token"]],
      "labels": ["floor": "1"],
    ],
    result: MethodExample.instance)

  /// The params of `instance.create`.
  public struct Params: RPCValue {
    /// The id of the new instance.
    public var instance: InstanceID
    /// The kind of the new instance.
    public var kind: KindName
    /// The kind's settings, with the keys of the configuration file.
    public var settings: JSONObject?
    /// The token provider; for admins only.
    public var provider: JSONObject?
    /// The access rules for callers other than the owner and admins.
    public var access: AccessRules?
    /// Labels for the operator.
    public var labels: [String: String]?

    /// Creates params with these members.
    public init(
      instance: InstanceID, kind: KindName, settings: JSONObject? = nil, provider: JSONObject? = nil,
      access: AccessRules? = nil, labels: [String: String]? = nil
    ) {
      self.instance = instance
      self.kind = kind
      self.settings = settings
      self.provider = provider
      self.access = access
      self.labels = labels
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("kind", KindName.jsonSchema, "the SDK"),
      .optional("settings", .map(.any), "the kind's settings, with the keys of the configuration file"),
      .optional("provider", .map(.any), "the token provider; for admins only"),
      .optional("access", AccessRules.jsonSchema, "who may do what, besides owner and admins"),
      .optional("labels", .map(.string(), atMost: 64), "labels for the operator"),
    ])
  }

  public typealias Result = Instance
}
