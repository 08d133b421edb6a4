public import JSONRPC

/// The params of every request of the daemon to a delegate, such as `delegate.getToken` (`provider.md`, "Questions and
/// answers").
public struct DelegateQuestion: RPCValue, Hashable {
  /// The type of a question.
  public enum Name: String, Sendable, Hashable, Codable, DescribedEnumeration {
    /// A token is needed, and none was refused: there is none yet, it expires soon, or a caller wants a longer
    /// lifetime.
    case getToken
    /// The vendor refused the token, or it has expired.
    case invalidAuth
    /// A service without settings is being opened.
    case shouldAuthenticate
    /// Authentication failed, and no refresh token can renew it.
    case authenticationFailed

    public static let jsonSchema = schema(named: "DelegateQuestionName")
    public var meaning: String {
      switch self {
      case .getToken: "A token is needed, and none was refused."
      case .invalidAuth: "The vendor refused the token, or it has expired."
      case .shouldAuthenticate: "A service without settings is being opened."
      case .authenticationFailed: "Authentication failed, and no refresh token can renew it."
      }
    }

    /// The method name of the daemon's request.
    public var method: String { "delegate.\(rawValue)" }
  }

  /// The user for whom the credential is requested.
  public struct User: Sendable, Hashable, Codable {
    /// The vendor's id of the user.
    public var id: String?
    /// The owner's id of the user.
    public var externalId: String?
  }

  /// The failure that led to the question.
  public struct Failure: Sendable, Hashable, Codable {
    /// The stable name of the cause, as in `Reason`.
    public var reason: String
    /// The vendor's error code.
    public var code: String?
    /// The vendor's error description.
    public var description: String?
    /// The vendor's HTTP status.
    public var httpStatus: Int?
  }

  /// The version of the question's format: 1.
  public var version: Int
  /// The type of the question.
  public var question: Name
  /// The instance that the question is about.
  public var instance: InstanceID
  /// The instance's kind.
  public var kind: KindName
  /// The service, for kinds that have several.
  public var service: String?
  /// The number of the attempt, starting at 1.
  public var attempt: Int
  /// The user for whom the credential is requested, if known.
  public var user: User?
  /// The failure that led to the question, if any.
  public var error: Failure?
  /// The time after which a response comes too late.
  public var deadline: Timestamp

  public static let jsonSchema = JSONSchema.named(
    "DelegateQuestion",
    .object([
      .required("version", .integer(minimum: 1), "the form of the question: 1"),
      .required("question", Name.jsonSchema, "which question it is"),
      .required("instance", InstanceID.jsonSchema, "who asks"),
      .required("kind", KindName.jsonSchema, "the instance's SDK"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .required("attempt", .integer(minimum: 1), "which attempt this is"),
      .optional("user", user, "who needs the credential"),
      .optional("error", failure, "what went wrong"),
      .required("deadline", Timestamp.jsonSchema, "when an answer comes too late"),
    ]))

  private static let user = JSONSchema.named(
    "DelegateUser",
    .object([
      .optional("id", .string(), "the vendor's id"), .optional("externalId", .string(), "the id that the owner gave"),
    ]))

  private static let failure = JSONSchema.named(
    "DelegateFailure",
    .object([
      .required("reason", Reason.jsonSchema, "the stable name"),
      .optional("code", .string(), "the vendor's own code"),
      .optional("description", .string(), "the vendor's own words"),
      .optional("httpStatus", .integer(), "the vendor's HTTP status"),
    ]))
}
