public import JSONRPC

/// `instance.currentUser`: who is signed in.
public enum InstanceCurrentUser: SDKMethod {
  public static let name = "instance.currentUser"
  public static let summary = "Who is signed in."
  public static let documentation = """
    The user of the instance, also when there is none: then `authenticationType` is `unauthenticated`.
    """
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?

    /// Each member by name.
    public init(instance: InstanceID, service: String? = nil) {
      self.instance = instance
      self.service = service
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("service", .string(), "the service, for kinds that have several"),
    ])
  }

  public typealias Result = User
}
