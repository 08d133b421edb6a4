public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chat.setIdentity`: authenticates the visitor from the next session on (the vendor's guide, "setIdentity").
public enum ChatSetIdentity: SDKMethod {
  public static let name = "chat.setIdentity"
  public static let summary = "Authenticates the visitor from the next session on."
  public static let documentation = """
    Nothing is sent yet: session.open and token.get exchange a JWT for an id token when they need one. A jwt given is
    used once and kept in memory only; without one, and afterwards, the delegate or the token provider is asked. It is
    checked first: invalidAccessToken, invalidName, invalidEmail and tokenHasExpired cost no request. The external_id
    of a visitor can't change: externalUserIdHasChanged, and chat.resetIdentity comes first.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskChat
  public static let errors: [DeclaredError] = [
    .identityState, .logoutInProgress,
    DeclaredError("chatLocal", .local, [.invalidAccessToken, .invalidName, .invalidEmail, .tokenHasExpired]),
    DeclaredError("chatVendor", .vendor, [.externalUserIdHasChanged]),
  ]
  public static let example = MethodExample(
    ["instance": "visitors", "jwt": MethodExample.jwt])
  public static let commands = [CommandUse(verb: "login", input: .text, member: "jwt")]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The visitor's JWT, made by the customer's backend.
    public var jwt: Secret?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("jwt", .jwt, "the visitor's JWT, made by the customer's backend: a secret"),
    ])
  }

  public typealias Result = Empty
}
