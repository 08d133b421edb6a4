public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `serviceChat.setAuthenticationSettings`: signs a service in or out (the vendor's guide, "Authentication Flow").
public enum ServiceChatSetAuthenticationSettings: SDKMethod {
  public static let name = "serviceChat.setAuthenticationSettings"
  public static let summary = "Signs a service in with authentication settings, or out with null."
  public static let documentation = """
    Settings are checked locally: authenticationSettingsError names what is missing or wrong. Instead of its own members
    they may hold account, the Mobile SDK's account in its own field names. Another user's settings wipe what was stored
    for the former one. identityUrl tells whose they are, and such settings are accepted without a request; without it,
    the vendor is asked where new tokens replace others, and nothing changes if it can't say. With null the service's
    tokens are forgotten at once and revoked at the vendor in the background; a guest may do that too. Each accepted
    call emits settingsUpdated. What the instance stores for apps is wiped when the user of any service goes.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .salesforceChat
  public static let errors: [DeclaredError] = [
    .identityState, .serviceChatVendor, .unreachable,
    DeclaredError("serviceChatLocal", .local, [.authenticationSettingsError, .invalidAuthParameters]),
  ]
  public static let example = MethodExample(
    [
      "instance": "cases",
      "service": "cases",
      "settings": [
        "instanceUrl": "https://acme.my.salesforce.com",
        "accessToken": "00D000000000001!AQ518d7da05a3040",
        "refreshToken": "5Aep8618f913ca44d3b427f827e22420dd4cf2b",
        "identityUrl": "https://acme.my.salesforce.com/id/00D000000000001/005K9gGyX8OAK8aH8M",
      ],
    ])
  public static let commands = [
    CommandUse(verb: "login", input: .json, member: "settings"), CommandUse(verb: "logout", fixed: ["settings": nil]),
  ]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The service.
    public var service: String
    /// The settings as given, secrets included; `nil` signs out.
    public var settings: GivenSettings?

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(instance, forKey: .instance)
      try container.encode(service, forKey: .service)
      // Null must be encoded: it signs out.
      try container.encode(settings, forKey: .settings)
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("service", .string(), "cases, knowledge or chat"),
      .required("settings", .oneOf([AuthenticationSettings.jsonSchema, .null]), "the settings, or null to sign out"),
    ])
  }

  public typealias Result = Empty
}

/// Authentication settings as a caller gave them. They hold secrets, so they print as `‹settings›`.
public struct GivenSettings: Sendable, Hashable, Codable {
  /// The members.
  public var members: JSONObject

  public init(from decoder: any Decoder) throws { members = try JSON(from: decoder).objectValue ?? JSONObject() }
  public func encode(to encoder: any Encoder) throws { try JSON.object(members).encode(to: encoder) }
}

extension GivenSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "‹settings›" }
  public var debugDescription: String { "‹settings›" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
