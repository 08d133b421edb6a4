public import JSONRPC

/// A credential for an app (sdkd-protocol(7)).
public struct Token: RPCValue, Hashable {
  /// The type of a credential.
  public enum TokenType: String, Sendable, Codable, DescribedEnumeration {
    case jwt, sessionToken, accessToken, idToken, custom

    public static let jsonSchema = schema(named: "TokenType")
    public var meaning: String {
      switch self {
      case .jwt: "A JWT of the customer's backend."
      case .sessionToken: "A token of an anonymous user's session."
      case .accessToken: "An OAuth access token, or one that the vendor gave for an identity."
      case .idToken: "An id token that the vendor gave for a JWT."
      case .custom: "A token in a form that only the vendor and the customer know."
      }
    }
  }

  /// The credential itself.
  public var token: Secret
  /// The credential's digest, safe to log.
  public var tokenId: TokenID
  /// The type of the credential.
  public var tokenType: TokenType
  /// The time at which the credential expires; `nil` if unknown.
  public var expiresAt: Timestamp?
  /// The seconds until the credential expires, counted from the response; `nil` if unknown.
  public var ttl: Double?
  /// Whether the credential was already cached, rather than renewed for this call.
  public var fromCache: Bool
  /// Whether this is the old, unexpired credential because a needed renewal failed or was not possible.
  public var stale: Bool
  /// Whether a fresh token expires sooner than `minTTL`; `nil` if it does not.
  public var short: Bool?
  /// The headers and cookies that carry the credential, if requested.
  public var http: TokenHTTP?

  /// Creates a token.
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
      .required("tokenType", TokenType.jsonSchema, "what sort it is"),
      .optional("expiresAt", Timestamp.jsonSchema, "when it ends; absent when nobody knows"),
      .optional("ttl", .number, "seconds until it ends, when the answer was made"),
      .required("fromCache", .boolean, "whether it came from memory, without asking anybody"),
      .required("stale", .boolean, "whether a renewal failed and this is the living old one"),
      .optional("short", .boolean, "true when a fresh token lives shorter than minTTL"),
      .optional("http", TokenHTTP.jsonSchema, "how to put it on a request, if asked for"),
    ]))
}

/// The headers and cookies that carry a credential in an HTTP request.
public struct TokenHTTP: RPCValue, Hashable {
  /// The headers by name, spelt as the vendor spells them.
  public var headers: [String: Secret]
  /// The cookies by name.
  public var cookies: [String: Secret]

  /// Creates a set of headers and cookies.
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
