public import JSONRPC

/// `token.refresh`: a new credential.
public enum TokenRefresh: SDKMethod {
  public static let name = "token.refresh"
  public static let summary = "A new credential."
  public static let documentation = """
    Asks for a new token and returns it, or the error; then the cached token stays as it was. Obeys the
    breaker, and within `refresh.min_interval` shares the last result; a caller with control resets both.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?
    /// How long to wait; the work goes on without the caller.
    public var timeout: Seconds?

    /// Each member by name.
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
