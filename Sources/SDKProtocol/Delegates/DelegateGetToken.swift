public import JSONRPC

/// `delegate.getToken`: a request of the daemon to an attached connection.
public enum DelegateGetToken: RPCMethod {
  public static let name = "delegate.getToken"
  public static let summary = "Asks for a token."
  public static let documentation = """
    Nothing was refused: there is no token yet, it ends soon, or a caller wants one that lives longer. A delegate
    answers with what the kind takes (messaging and chat `token`, support `uniqueId`, edna `token`, `scheme`,
    `signature`, `isEncrypted`), or with `{"defer": true}` to pass the question on. Error -32040 with the reason
    `providerDenied` says no for good; any other error passes the question on.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateTokenAnswer
}

/// The response to `delegate.getToken` and `delegate.invalidAuth`: the members that the instance's kind takes, or
/// `defer`.
public struct DelegateTokenAnswer: RPCValue, Hashable {
  /// The token.
  public var token: Secret?
  /// The time at which the token expires.
  public var expiresAt: Timestamp?
  /// `zendesk.support`: the owner's id of the user.
  public var uniqueId: Secret?
  /// `edna.chatcenter`: the authentication scheme of the token.
  public var scheme: String?
  /// `edna.chatcenter`: the signature that proves the user's client id to the vendor. A secret.
  public var signature: Secret?
  /// `edna.chatcenter`: whether the token is encrypted.
  public var isEncrypted: Bool?
  /// Whether the question is passed to the next delegate or the provider. If `true`, no other member is present.
  public var isDeferred: Bool?

  private enum CodingKeys: String, CodingKey {
    case token, expiresAt, uniqueId, scheme, signature, isEncrypted
    case isDeferred = "defer"
  }

  /// Creates a response with these members.
  public init(
    token: Secret? = nil, expiresAt: Timestamp? = nil, uniqueId: Secret? = nil, scheme: String? = nil,
    signature: Secret? = nil, isEncrypted: Bool? = nil, isDeferred: Bool? = nil
  ) {
    self.token = token
    self.expiresAt = expiresAt
    self.uniqueId = uniqueId
    self.scheme = scheme
    self.signature = signature
    self.isEncrypted = isEncrypted
    self.isDeferred = isDeferred
  }

  public static let jsonSchema = JSONSchema.named(
    "DelegateTokenAnswer",
    .object([
      .optional("token", .string(), "the token"),
      .optional("expiresAt", .oneOf([Timestamp.jsonSchema, .number]), "when it ends"),
      .optional("uniqueId", .string(), "the owner's id of the user"),
      .optional("scheme", .string(), "how the token is to be read"),
      .optional("signature", .string(), "the owner's signature"),
      .optional("isEncrypted", .boolean, "whether the token is encrypted"),
      .optional("defer", .boolean, "true passes the question on"),
    ]))
}

/// `delegate.invalidAuth`: a request of the daemon to an attached connection.
public enum DelegateInvalidAuth: RPCMethod {
  public static let name = "delegate.invalidAuth"
  public static let summary = "Asks for a token in place of one that the vendor refused or that has expired."
  public static let documentation = """
    As `delegate.getToken`, with the error and the number of the attempt.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateTokenAnswer
}
