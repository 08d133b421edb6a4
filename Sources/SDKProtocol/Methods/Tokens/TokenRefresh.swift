public import JSONRPC

/// `token.refresh`: renews the credential and returns the new one.
public enum TokenRefresh: SDKMethod {
  public static let name = "token.refresh"
  public static let summary = "A new credential."
  public static let documentation = """
    Asks for a new token and returns it, or the error; then the cached token stays as it was. After failures of the
    provider it fails until the next attempt is due, and within `refresh.min_interval` it returns the last result again.
    A token that `token.reject` reports within that time of the last attempt fails with providerBackoff until it is over.
    For a caller with control none of this applies.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = DeclaredError.ofCredentials
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: [
      "token": MethodExample.jwt,
      "tokenId": "9b95b33483c4e475",
      "tokenType": "jwt",
      "expiresAt": "2026-11-24T09:42:35.000Z",
      "ttl": 3599.126,
      "fromCache": false,
      "stale": false,
    ])

  /// The params of `token.refresh`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?
    /// The maximum time to wait. After it, the call fails and the work continues without the caller.
    public var timeout: Seconds?

    /// Creates params with these members.
    public init(instance: InstanceID, service: String? = nil, timeout: Seconds? = nil) {
      self.instance = instance
      self.service = service
      self.timeout = timeout
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .optional("timeout", Seconds.jsonSchema, "how long to wait; the work goes on without the caller"),
    ])
  }

  public typealias Result = Token
}
