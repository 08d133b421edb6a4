public import JSONRPC

/// `delegate.shouldAuthenticate`: a request of the daemon to an attached connection.
public enum DelegateShouldAuthenticate: RPCMethod {
  public static let name = "delegate.shouldAuthenticate"
  public static let summary = "Asks whether a service without settings is to be authenticated."
  public static let documentation = """
    `salesforce.chat`. `authenticate: false`: the user is a guest; `true`: with the settings, if they are given.
    `{"defer": true}` passes the question on.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateServiceAnswer
}

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

/// `delegate.authenticationFailed`: a request of the daemon to an attached connection.
public enum DelegateAuthenticationFailed: RPCMethod {
  public static let name = "delegate.authenticationFailed"
  public static let summary = "Asks whether to go on after an authentication that no refresh token helps."
  public static let documentation = """
    `salesforce.chat`. `proceed: true`: settings are asked for again; `false`: the user is a guest.
    `{"defer": true}` passes the question on.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateGuestAnswer
}

/// The response to `delegate.authenticationFailed`.
public struct DelegateGuestAnswer: RPCValue, Hashable {
  /// Whether to authenticate again: `true` requests new settings, `false` makes the user a guest.
  public var proceed: Bool?
  /// Whether the question is passed to the next delegate or the provider. If `true`, no other member is present.
  public var isDeferred: Bool?

  private enum CodingKeys: String, CodingKey {
    case proceed
    case isDeferred = "defer"
  }

  /// Creates a response with these members.
  public init(proceed: Bool? = nil, isDeferred: Bool? = nil) {
    self.proceed = proceed
    self.isDeferred = isDeferred
  }

  public static let jsonSchema = JSONSchema.named(
    "DelegateGuestAnswer",
    .object([
      .optional("proceed", .boolean, "true asks for settings again, false goes on as a guest"),
      .optional("defer", .boolean, "true passes the question on"),
    ]))
}
