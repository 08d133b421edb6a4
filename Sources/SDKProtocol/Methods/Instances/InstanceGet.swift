public import JSONRPC

/// `instance.get`: one instance.
public enum InstanceGet: SDKMethod {
  public static let name = "instance.get"
  public static let summary = "One instance."
  public static let documentation = """
    An instance with its state, user, settings without secrets, and bridge.
    """
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID

    /// Each member by name.
    public init(instance: InstanceID) {
      self.instance = instance
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance")
    ])
  }

  public typealias Result = Instance
}
