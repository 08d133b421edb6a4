public import JSONRPC

/// `delegate.attach`: attaches this connection as a delegate of instances.
public enum DelegateAttach: SDKMethod {
  public static let name = "delegate.attach"
  public static let summary = "Answers the questions of instances on this connection."
  public static let documentation = """
    Until it is detached or ends, this connection is sent `delegate.getToken` and its like whenever one of the
    instances needs a credential; the reply precedes the first question. The latest attached is asked first, then
    the earlier, then the token provider; attaching again moves to the front. All of the instances are attached,
    or none. Takes control on each; who loses it is not asked any more. At most 8 connections an instance (tooManySubscriptions) and 1024 instances a
    connection (tooManyInstances).
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let errors: [DeclaredError] = [
    .instanceNotFound, DeclaredError("delegateLimits", .limit, [.tooManyInstances, .tooManySubscriptions]),
  ]
  public static let example = MethodExample(
    ["instances": ["front-desk"], "timeout": "5s"])

  /// The params of `delegate.attach`.
  public struct Params: RPCValue {
    /// The instances for which this connection becomes a delegate.
    public var instances: [InstanceID]
    /// The time for a response, after which the question is passed on: 0.1 to 600 s. Unless given, it is 10 s, and 600 s
    /// for `shouldAuthenticate`, which a person may have to answer.
    public var timeout: Seconds?

    /// Creates params with these members.
    public init(instances: [InstanceID], timeout: Seconds? = nil) {
      self.instances = instances
      self.timeout = timeout
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instances", .array(InstanceID.jsonSchema), "the instances"),
      .optional(
        "timeout", Seconds.jsonSchema,
        "how long an answer may take before the question is passed on, from 0.1 to 600 s; unless given 10 s, and 600 s for shouldAuthenticate"
      ),
    ])
  }

  public typealias Result = Empty
}
