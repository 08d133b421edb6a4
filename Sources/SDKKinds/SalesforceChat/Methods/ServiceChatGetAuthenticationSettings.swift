public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `serviceChat.getAuthenticationSettings`: returns a service's settings without secrets.
public enum ServiceChatGetAuthenticationSettings: SDKMethod {
  public static let name = "serviceChat.getAuthenticationSettings"
  public static let summary = "A service's authentication settings, without secrets."
  public static let documentation = "Null for a guest and for a service that was never signed in."
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read
  public static let kind: KindName? = .salesforceChat
  public static let errors: [DeclaredError] = [.wrongKind]
  public static let example = MethodExample(
    ["instance": "cases", "service": "cases"],
    result: [
      "settings": [
        "instanceUrl": "https://acme.my.salesforce.com",
        "clientId": "3MVG9acme.demo",
        "hasRefreshToken": true,
      ]
    ])
  public static let commands = [CommandUse(verb: "identity")]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The service.
    public var service: String

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("service", .string(), "cases, knowledge or chat"),
    ])
  }

  /// Settings without secrets, as observers may see them.
  public struct Settings: RPCValue, Hashable {
    /// The organisation's URL.
    public var instanceUrl: String
    /// The connected app.
    public var clientId: String
    /// Whether the access token can be renewed without the owner.
    public var hasRefreshToken: Bool

    public static let jsonSchema = JSONSchema.named(
      "ShownAuthenticationSettings",
      .object([
        .required("instanceUrl", .url, "the organisation's URL"),
        .required("clientId", .string(), "the connected app"),
        .required("hasRefreshToken", .boolean, "whether the access token can be renewed without the owner"),
      ]))
  }

  /// The result of a call.
  public struct Result: RPCValue {
    /// The settings; `nil` for a guest.
    public var settings: Settings?

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(settings, forKey: .settings)
    }

    public static let jsonSchema = JSONSchema.object([
      .required("settings", .oneOf([Settings.jsonSchema, .null]), "the settings; null for a guest")
    ])
  }
}
