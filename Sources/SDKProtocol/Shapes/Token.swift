public import JSONRPC

/// A credential for an app (`protocol.md`, "Shapes").
public struct Token: RPCValue, Hashable {
  /// What sort of credential it is.
  public enum TokenType: String, Sendable, Codable, CaseIterable {
    case jwt, sessionToken, accessToken, idToken, custom
  }

  /// The credential itself.
  public var token: Secret
  /// Its digest, safe to log.
  public var tokenId: TokenID
  /// What sort it is.
  public var tokenType: TokenType
  /// When it ends; absent when nobody knows.
  public var expiresAt: Timestamp?
  /// Seconds until it ends, when the answer was made.
  public var ttl: Double?
  /// Whether it came from memory, without asking anybody.
  public var fromCache: Bool
  /// Whether a renewal failed and this is the living old one.
  public var stale: Bool
  /// True when a fresh token lives shorter than `minTTL`.
  public var short: Bool?
  /// How to put it on a request, if asked for.
  public var http: TokenHTTP?

  /// A token with these parts.
  public init(
    token: Secret, tokenId: TokenID, tokenType: TokenType, expiresAt: Timestamp?, ttl: Double?, fromCache: Bool,
    stale: Bool, short: Bool? = nil, http: TokenHTTP? = nil
  ) {
    self.token = token
    self.tokenId = tokenId
    self.tokenType = tokenType
    self.expiresAt = expiresAt
    self.ttl = ttl
    self.fromCache = fromCache
    self.stale = stale
    self.short = short
    self.http = http
  }

  public static let jsonSchema = JSONSchema.named(
    "Token",
    .object([
      .required("token", .string(), "the credential itself: a secret"),
      .required("tokenId", TokenID.jsonSchema, "its digest, safe to log"),
      .required("tokenType", .enumeration(TokenType.allCases.map(\.rawValue)), "what sort it is"),
      .optional("expiresAt", Timestamp.jsonSchema, "when it ends; absent when nobody knows"),
      .optional("ttl", .number, "seconds until it ends, when the answer was made"),
      .required("fromCache", .boolean, "whether it came from memory, without asking anybody"),
      .required("stale", .boolean, "whether a renewal failed and this is the living old one"),
      .optional("short", .boolean, "true when a fresh token lives shorter than minTTL"),
      .optional("http", TokenHTTP.jsonSchema, "how to put it on a request, if asked for"),
    ]))
}

/// How a credential is put on an HTTP request.
public struct TokenHTTP: RPCValue, Hashable {
  /// Headers by name, spelt as the vendor does.
  public var headers: [String: Secret]
  /// Cookies by name.
  public var cookies: [String: Secret]

  /// Headers and cookies.
  public init(headers: [String: Secret] = [:], cookies: [String: Secret] = [:]) {
    self.headers = headers
    self.cookies = cookies
  }

  public static let jsonSchema = JSONSchema.named(
    "TokenHTTP",
    .object([
      .required("headers", .map(.string()), "headers by name"),
      .required("cookies", .map(.string()), "cookies by name"),
    ]))
}
