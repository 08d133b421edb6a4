public import JSONRPC

/// The params of a method that needs to know the instance only.
public struct OneInstance: RPCValue {
  /// The instance.
  public var instance: InstanceID

  /// Creates params for an instance.
  public init(instance: InstanceID) { self.instance = instance }

  public static let jsonSchema = JSONSchema.object([.required("instance", InstanceID.jsonSchema, "the instance")])
}
