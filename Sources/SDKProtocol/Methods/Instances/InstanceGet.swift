public import JSONRPC

/// `instance.get`: returns an instance.
public enum InstanceGet: SDKMethod {
  public static let name = "instance.get"
  public static let summary = "One instance."
  public static let documentation = """
    An instance with its state, user, settings without secrets, and bridge.
    """
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: MethodExample.instance)

  /// The params of `instance.get`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID

    /// Creates params with these members.
    public init(instance: InstanceID) {
      self.instance = instance
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance")
    ])
  }

  public typealias Result = Instance
}
