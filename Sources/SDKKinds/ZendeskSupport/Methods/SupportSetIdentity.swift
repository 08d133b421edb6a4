public import JSONRPC
public import SDKInstances
public import SDKProtocol
import StateStore

/// `support.setIdentity`: sets the user's identity (the vendor's guide, "Set an identity").
public enum SupportSetIdentity: SDKMethod {
  public static let name = "support.setIdentity"
  public static let summary = "Sets an anonymous identity or a unique id, and exchanges it for an access token."
  public static let documentation = """
    The same identity again does nothing; but one that is locked or has no token is exchanged again. Another identity,
    also another name or e-mail of an anonymous one, wipes all that is stored once the vendor has accepted it; until
    then, and when it is refused, the former one stands. With onChange "refuse" it is identityChangeRefused instead.
    A jwt identity without token has its unique id supplied by the delegate or token provider, now and whenever the
    vendor refuses it. identityMismatch: the account wants the other type. personalDataRefused: coppa is set.
    weakIdentifier: strict_identifiers is set. invalidName, invalidEmail: more than 512 bytes. agentNotAllowed: the
    e-mail is an agent's. network: the vendor or the account's settings can't be read, and the former identity stands;
    support.clearIdentity works without the vendor. A newer identity supersedes this one.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskSupport
  public static let errors: [DeclaredError] = [
    .unreachable, .provider,
    DeclaredError(
      "supportState", .state,
      [.wrongKind, .superseded, .identityMismatch, .identityChangeRefused, .personalDataRefused, .noIdentity]),
    DeclaredError(
      "supportLocal", .local,
      [.invalidIdentifier, .weakIdentifier, .invalidAuthParameters, .invalidName, .invalidEmail]),
    DeclaredError("supportVendor", .vendor, [.agentNotAllowed, .invalidAuth, .forbidden, .notFound]),
  ]
  public static let example = MethodExample(
    ["instance": "help", "identity": ["type": "jwt", "token": "alice:first-unique-id"]],
    result: ["changed": true])
  public static let commands = [CommandUse(verb: "login", input: .json, member: "identity")]

  /// The treatment of a change of identity: it wipes the former one, or is refused.
  public enum OnChange: String, Sendable, Codable, DescribedEnumeration {
    case wipe, refuse

    public static let jsonSchema = schema(named: "OnIdentityChange")
    public var meaning: String {
      switch self {
      case .wipe: "Another identity replaces the present one, and wipes what is stored."
      case .refuse: "Another identity than the present one is identityChangeRefused."
      }
    }
  }

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The identity.
    public var identity: SupportIdentityInput
    /// The treatment of a change of identity; `wipe` unless given.
    public var onChange: OnChange?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("identity", SupportIdentityInput.jsonSchema, "who the user is"),
      .optional(
        "onChange", OnChange.jsonSchema,
        "whether another identity than the present one wipes or is refused; wipe unless given"),
    ])
  }

  /// The result of a call.
  public struct Result: RPCValue {
    /// The numbers of destroyed values.
    public struct Wiped: RPCValue, Hashable {
      /// The number of values in storage.
      public var storage: Int
      /// The number of push registrations.
      public var pushes: Int
      /// The number of tokens.
      public var tokens: Int

      public static let jsonSchema = JSONSchema.named(
        "WipedCounts",
        .object([
          .required("storage", .integer(minimum: 0), "values in storage"),
          .required("pushes", .integer(minimum: 0), "push registrations"),
          .required("tokens", .integer(minimum: 0), "tokens"),
        ]))
    }

    /// Whether the vendor has accepted the identity; false when it was set already.
    public var changed: Bool
    /// The destroyed values of the former identity.
    public var wiped: Wiped?

    init(_ outcome: SignInOutcome) {
      changed = outcome.changed
      wiped = outcome.wiped.map { Wiped(storage: $0.storage, pushes: $0.pushes, tokens: $0.tokens) }
    }

    public static let jsonSchema = JSONSchema.object([
      .required("changed", .boolean, "false when the identity was the same and nothing was to do"),
      .optional("wiped", Wiped.jsonSchema, "what was destroyed of the former identity"),
    ])
  }
}

/// `support.clearIdentity`: deletes the identity and wipes what the instance stores.
public enum SupportClearIdentity: SDKMethod {
  public static let name = "support.clearIdentity"
  public static let summary = "Forgets the identity and wipes what the instance stores."
  public static let documentation = """
    Valid in every state, and without an identity it does nothing. Push registrations are removed at the vendor in the
    background; instance.get lists what is still to be done. Nothing brings back what was wiped.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskSupport
  public static let errors: [DeclaredError] = [.identityState, .logoutInProgress]
  public static let example = MethodExample(
    ["instance": "help"])
  public static let commands = [CommandUse(verb: "logout")]

  public typealias Params = OneInstance
  public typealias Result = Empty
}
