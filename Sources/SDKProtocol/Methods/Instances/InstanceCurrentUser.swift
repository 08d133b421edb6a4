public import JSONRPC

/// `instance.currentUser`: returns the user that is signed in.
public enum InstanceCurrentUser: SDKMethod {
  public static let name = "instance.currentUser"
  public static let summary = "Who is signed in."
  public static let documentation = """
    The user of the instance, also when there is none: then `authenticationType` is `unauthenticated`.
    """
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read
  public static let concern = MethodConcern.user
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: MethodExample.user)

  /// The params of `instance.currentUser`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?

    /// Creates params with these members.
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
