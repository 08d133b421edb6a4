public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.authorize`: authorises a user (the vendor's guide, "User authorization").
public enum ChatCenterAuthorize: SDKMethod {
  public static let name = "chatCenter.authorize"
  public static let summary = "Authorises a user."
  public static let documentation = """
    Answers when accepted; the outcome is an event with this operation: userLoggedIn once the vendor has acknowledged
    all of registerDevice, INIT_CHAT and CLIENT_INFO, else authenticationFailed, networkError or, after a later call of
    the app itself, loginSuperseded. What the same connection asks about the user meanwhile waits for the outcome and
    concerns the new user; if the login fails, it fails alike. With wait the outcome is the answer. Refused before the network: invalidIdentifier, weakIdentifier
    (strict_identifiers), invalidAuthParameters, expiredJWT for a token that is an expired JWT. The same user with the same auth keeps its state and costs no request; another name or other
    data wait for the next chat; another auth replaces the credentials. Another user replaces this one once the vendor
    has accepted it, and everything local of this one is wiped; its session at the vendor stays open unless on_switch is
    logout.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .ednaChatCenter
  public static let errors: [DeclaredError] = [
    .identityState, .chatCenterLocal, .chatCenterVendor, .unreachable, .provider,
  ]
  public static let example = MethodExample(
    [
      "instance": "clinic",
      "user": ["identifier": "user-alice-7f3a", "name": "Alice"],
      "auth": ["token": "edna-token-of-alice"],
      "wait": true,
    ],
    result: [
      "externalId": "user-alice-7f3a",
      "name": "Alice",
      "authenticationType": "custom",
      "authenticated": true,
      "verified": true,
      "since": "2026-11-24T08:42:35.272Z",
    ])
  public static let commands = [CommandUse(verb: "login", input: .json)]

  /// Custom authorization, as agreed with the vendor.
  public struct Auth: RPCValue, Hashable {
    let auth: EdnaAuth

    public init(from decoder: any Decoder) throws { auth = try EdnaAuth(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try auth.encode(to: encoder) }

    public static let jsonSchema = EdnaAuth.jsonSchema
  }

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The user to authorise.
    public var user: EdnaChatUser
    /// Custom authorization; none unless given.
    public var auth: Auth?
    /// Whether to wait for the outcome.
    public var wait: Bool?
    /// The seconds to wait. The operation continues after they have passed.
    public var timeout: Seconds?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("user", EdnaChatUser.jsonSchema, "who is to be authorised"),
      .optional("auth", Auth.jsonSchema, "custom authorization, as agreed with the vendor"),
      .optional("wait", .boolean, "wait for the outcome"),
      .optional("timeout", Seconds.jsonSchema, "with wait: how long; the work goes on without the caller"),
    ])
  }

  /// The result of a call: the accepted operation, or with `wait` the user.
  public enum Result: RPCValue {
    case accepted(operation: String, hints: [String])
    case user(User)

    private struct Accepted: Codable {
      var accepted: Bool
      var operation: String
      var hints: [String]?
    }

    public init(from decoder: any Decoder) throws {
      if let done = try? Accepted(from: decoder) {
        self = .accepted(operation: done.operation, hints: done.hints ?? [])
      } else {
        self = .user(try User(from: decoder))
      }
    }

    public func encode(to encoder: any Encoder) throws {
      switch self {
      case .accepted(let operation, let hints):
        try Accepted(accepted: true, operation: operation, hints: hints.isEmpty ? nil : hints).encode(to: encoder)
      case .user(let user): try user.encode(to: encoder)
      }
    }

    public static let jsonSchema = JSONSchema.oneOf([
      .named(
        "ChatCenterAccepted",
        .object([
          .required("accepted", .boolean, "true"),
          .required("operation", .string(), "the operation that the event of the outcome names"),
          .optional("hints", .array(.string()), "what may be amiss with the identifier"),
        ])),
      User.jsonSchema,
    ])
  }
}

/// The errors that several methods of the kind share.
extension DeclaredError {
  /// The vendor's refusals.
  static let chatCenterVendor = DeclaredError("chatCenterVendor", .vendor, [.invalidAuth, .forbidden, .notFound])
  /// The local refusals of a user or an authorization.
  static let chatCenterLocal = DeclaredError(
    "chatCenterLocal", .local, [.invalidIdentifier, .weakIdentifier, .invalidAuthParameters, .expiredJWT])
}
