public import JSONRPC

/// The answer to `shouldAuthenticate`.
public struct DelegateServiceAnswer: RPCValue, Hashable {
  /// Whether to authenticate; without it the user is a guest.
  public var authenticate: Bool?
  /// The settings to do it with; may hold secrets.
  public var settings: JSONObject?
  /// `true` passes the question on; then nothing else is there.
  public var isDeferred: Bool?

  private enum CodingKeys: String, CodingKey {
    case authenticate, settings
    case isDeferred = "defer"
  }

  /// Each member by name.
  public init(authenticate: Bool? = nil, settings: JSONObject? = nil, isDeferred: Bool? = nil) {
    self.authenticate = authenticate
    self.settings = settings
    self.isDeferred = isDeferred
  }

  public static let jsonSchema = JSONSchema.object([
    .optional("authenticate", .boolean, "whether to authenticate"),
    .optional("settings", .map(.any), "the settings to do it with"),
    .optional("defer", .boolean, "true passes the question on"),
  ])
}
