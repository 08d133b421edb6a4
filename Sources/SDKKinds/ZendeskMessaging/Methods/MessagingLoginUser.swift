public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `messaging.loginUser`: logs a user in with a JWT (the vendor's guide, "LoginUser").
public enum MessagingLoginUser: SDKMethod {
  public static let name = "messaging.loginUser"
  public static let summary = "Logs a user in with a JWT."
  public static let documentation = """
    The JWT is checked locally first: failedToDecodeJWT, expiredJWT and invalidJWTClaims cost no request. A
    login with the same token again succeeds without one. When the vendor has accepted another user, what is stored of the former one is
    wiped, and the vendor is told of the former one's logout. The vendor's refusal is invalidAuth or expiredJWT with its
    words and hints; a failed login keeps the user who was there. A newer login or a logout supersedes this one; a logout
    that came before it is waited for.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskMessaging
  public static let errors: [DeclaredError] = [
    .identityState, .unreachable,
    DeclaredError("messagingLocal", .local, [.failedToDecodeJWT, .expiredJWT, .invalidJWTClaims]),
    DeclaredError("messagingVendor", .vendor, [.invalidAuth, .expiredJWT, .forbidden, .notFound]),
  ]
  public static let example = MethodExample(
    ["instance": "front-desk", "jwt": MethodExample.jwt],
    result: MethodExample.user)
  public static let commands = [CommandUse(verb: "login", input: .text, member: "jwt")]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The user's JWT, made by the customer's backend.
    public var jwt: Secret

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("jwt", .jwt, "the user's JWT, made by the customer's backend: a secret"),
    ])
  }

  public typealias Result = User
}
