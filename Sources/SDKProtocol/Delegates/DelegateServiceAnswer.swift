public import JSONRPC

/// The response to `delegate.shouldAuthenticate`.
public struct DelegateServiceAnswer: RPCValue, Hashable {
  /// Whether to authenticate; otherwise the user is a guest.
  public var authenticate: Bool?
  /// The settings to authenticate with. They may hold secrets.
  public var settings: JSONObject?
  /// Whether the question is passed to the next delegate or the provider. If `true`, no other member is present.
  public var isDeferred: Bool?

  private enum CodingKeys: String, CodingKey {
    case authenticate, settings
    case isDeferred = "defer"
  }

  /// Creates a response with these members.
  public init(authenticate: Bool? = nil, settings: JSONObject? = nil, isDeferred: Bool? = nil) {
    self.authenticate = authenticate
    self.settings = settings
    self.isDeferred = isDeferred
  }

  public static let jsonSchema = JSONSchema.named(
    "DelegateServiceAnswer",
    .object([
      .optional("authenticate", .boolean, "whether to authenticate"),
      .optional("settings", .map(.any), "the settings to do it with"),
      .optional("defer", .boolean, "true passes the question on"),
    ]))
}
