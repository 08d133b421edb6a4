public import JSONRPC
import SDKInstances
public import SDKProtocol

/// `support.getIdentity`: returns the identity without its secrets.
public enum SupportGetIdentity: SDKMethod {
  public static let name = "support.getIdentity"
  public static let summary = "Which identity is set, without its secrets."
  public static let documentation = """
    The type, and the name and e-mail that were given; null without an identity. The unique id of a jwt identity is a
    secret and never shown.
    """
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read
  public static let kind: KindName? = .zendeskSupport
  public static let errors: [DeclaredError] = [.wrongKind]
  public static let example = MethodExample(
    ["instance": "help"],
    result: ["identity": ["type": "jwt"]])
  public static let commands = [CommandUse(verb: "identity")]

  public typealias Params = OneInstance

  /// The result of a call.
  public struct Result: RPCValue, Hashable {
    /// An identity without its secrets.
    public struct Shown: RPCValue, Hashable {
      /// `anonymous` or `jwt`.
      public var type: String
      /// The name that was given.
      public var name: String?
      /// The e-mail that was given.
      public var email: String?

      init(_ identity: SupportIdentity) {
        type = identity.type.rawValue
        name = identity.name
        email = identity.email
      }

      public static let jsonSchema = JSONSchema.named(
        "ShownSupportIdentity",
        .object([
          .required("type", SupportIdentity.Authentication.jsonSchema, "its type"),
          .optional("name", .string(), "the name that was given"),
          .optional("email", .string(), "the e-mail that was given"),
        ]))
    }

    /// The identity; `nil` for none.
    public var identity: Shown?

    init(identity: Shown?) { self.identity = identity }

    public init(from decoder: any Decoder) throws {
      identity = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Shown.self, forKey: .identity)
    }

    public func encode(to encoder: any Encoder) throws {
      // Null is encoded too when there is no identity.
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(identity, forKey: .identity)
    }

    private enum CodingKeys: String, CodingKey { case identity }

    public static let jsonSchema = JSONSchema.object([
      .required("identity", .oneOf([Shown.jsonSchema, .null]), "the identity; null for none")
    ])
  }
}
