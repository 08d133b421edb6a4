public import JSONRPC

/// What the daemon asks a delegate: the params of `delegate.getToken` and its like (`provider.md`, "Questions and
/// answers").
public struct DelegateQuestion: RPCValue, Hashable {
  /// Which question it is.
  public enum Name: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing was refused: there is no token yet, or it ends soon.
    case getToken
    /// The vendor refused the token, or it has expired.
    case invalidAuth
    /// A service without settings is opened.
    case shouldAuthenticate
    /// No refresh token helps.
    case authenticationFailed

    /// The method of the daemon's request.
    public var method: String { "delegate.\(rawValue)" }
  }

  /// Who needs the credential.
  public struct User: Sendable, Hashable, Codable {
    /// The vendor's id.
    public var id: String?
    /// The id that the owner gave.
    public var externalId: String?
  }

  /// Why the question is asked, after a failure.
  public struct Failure: Sendable, Hashable, Codable {
    /// The stable name.
    public var reason: String
    /// The vendor's own code.
    public var code: String?
    /// The vendor's own words.
    public var description: String?
    /// The vendor's HTTP status.
    public var httpStatus: Int?
  }

  /// The form of the question: 1.
  public var version: Int
  /// Which question it is.
  public var question: Name
  /// Who asks.
  public var instance: InstanceID
  /// The instance's SDK.
  public var kind: KindName
  /// The service, for kinds that have several.
  public var service: String?
  /// Which attempt this is, from 1.
  public var attempt: Int
  /// Who needs the credential, if anybody is known.
  public var user: User?
  /// What went wrong, if something has.
  public var error: Failure?
  /// When an answer comes too late.
  public var deadline: Timestamp

  public static let jsonSchema = JSONSchema.named(
    "DelegateQuestion",
    .object([
      .required("version", .integer(minimum: 1), "the form of the question: 1"),
      .required("question", .enumeration(Name.allCases.map(\.rawValue)), "which question it is"),
      .required("instance", InstanceID.jsonSchema, "who asks"),
      .required("kind", KindName.jsonSchema, "the instance's SDK"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .required("attempt", .integer(minimum: 1), "which attempt this is"),
      .optional("user", .oneOf([user, .null]), "who needs the credential"),
      .optional("error", .oneOf([failure, .null]), "what went wrong"),
      .required("deadline", Timestamp.jsonSchema, "when an answer comes too late"),
    ]))

  private static let user = JSONSchema.object([
    .optional("id", .string(), "the vendor's id"), .optional("externalId", .string(), "the id that the owner gave"),
  ])

  private static let failure = JSONSchema.object([
    .required("reason", .string(), "the stable name"), .optional("code", .string(), "the vendor's own code"),
    .optional("description", .string(), "the vendor's own words"),
    .optional("httpStatus", .integer(), "the vendor's HTTP status"),
  ])
}
