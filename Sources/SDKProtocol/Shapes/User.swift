public import JSONRPC

/// The user that an instance's SDK acts for (sdkd-protocol(7)).
public struct User: RPCValue, Hashable {
  /// The type of a user's authentication with the vendor.
  public enum AuthenticationType: String, Sendable, Codable, DescribedEnumeration {
    case jwt, sessionToken, oauth2, custom, unauthenticated

    public static let jsonSchema = schema(named: "AuthenticationType")
    public var meaning: String {
      switch self {
      case .jwt: "By a JWT of the customer's backend."
      case .sessionToken: "Anonymously, by a session of the vendor."
      case .oauth2: "By OAuth 2."
      case .custom: "In a way that the vendor and the customer have agreed on."
      case .unauthenticated: "Not at all: a guest, an anonymous visitor, or nobody."
      }
    }
  }

  /// The vendor's id of the user.
  public var id: String?
  /// The customer's id of the user.
  public var externalId: String?
  /// The user's name, if it was given.
  public var name: String?
  /// The user's e-mail, if it was given.
  public var email: String?
  /// The type of the user's authentication with the vendor.
  public var authenticationType: AuthenticationType
  /// Whether the user is signed in now.
  public var authenticated: Bool
  /// Whether the vendor has checked the identity.
  public var verified: Bool
  /// The time at which this user became the instance's.
  public var since: Timestamp?

  /// Creates a user.
  public init(
    id: String? = nil, externalId: String? = nil, name: String? = nil, email: String? = nil,
    authenticationType: AuthenticationType, authenticated: Bool, verified: Bool, since: Timestamp? = nil
  ) {
    self.id = id
    self.externalId = externalId
    self.name = name
    self.email = email
    self.authenticationType = authenticationType
    self.authenticated = authenticated
    self.verified = verified
    self.since = since
  }

  /// The value for an instance without a user.
  public static let none = User(authenticationType: .unauthenticated, authenticated: false, verified: false)

  public static let jsonSchema = JSONSchema.named(
    "User",
    .object([
      .optional("id", .string(), "the vendor's id"),
      .optional("externalId", .string(), "the customer's id"),
      .optional("name", .string(), "the user's name"),
      .optional("email", .string(), "the user's e-mail"),
      .required(
        "authenticationType", AuthenticationType.jsonSchema, "how the user is known to the vendor"),
      .required("authenticated", .boolean, "whether the user is signed in now"),
      .required("verified", .boolean, "whether the vendor has checked the identity"),
      .optional("since", Timestamp.jsonSchema, "since when this user is the instance's"),
    ]))
}
