public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `support.clearIdentity`: deletes the identity (seed 001).
public enum SupportClearIdentity: SDKMethod {
  public static let name = "support.clearIdentity"
  public static let summary = "Forgets the identity and wipes what the instance stores."
  public static let documentation = """
    Valid in every state, and without an identity it does nothing. Push registrations are removed at the vendor in the
    background; instance.get lists what is still to be done. Nothing brings back what was wiped.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskSupport
  public static let errors: [DeclaredError] = [.identityState, .logoutInProgress]
  public static let example = MethodExample(
    ["instance": "help"])
  public static let commands = [CommandUse(verb: "logout")]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID

    /// Creates the parameters of a call.
    public init(instance: InstanceID) { self.instance = instance }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance")
    ])
  }

  public typealias Result = Empty
}
