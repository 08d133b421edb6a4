public import JSONRPC

/// `delegate.detach`: detaches this connection as a delegate of instances.
public enum DelegateDetach: SDKMethod {
  public static let name = "delegate.detach"
  public static let summary = "Answers for instances no more on this connection."
  public static let documentation = """
    For these instances, or for all. One that is not attached is fine. Answers to questions that were sent before are
    not used: those questions pass to the next delegate or the token provider.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.write(waits: false)
  public static let example = MethodExample(
    ["instances": ["front-desk"]])

  /// The params of `delegate.detach`.
  public struct Params: RPCValue {
    /// The instances from which this connection is detached; all unless given.
    public var instances: [InstanceID]?

    /// Creates params with these members.
    public init(instances: [InstanceID]? = nil) { self.instances = instances }

    public static let jsonSchema = JSONSchema.object([
      .optional("instances", .array(InstanceID.jsonSchema), "the instances; all unless given")
    ])
  }

  public typealias Result = Empty
}
