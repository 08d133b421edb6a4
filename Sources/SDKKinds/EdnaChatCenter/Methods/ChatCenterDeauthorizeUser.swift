public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.deauthorizeUser`: deletes the user here without informing the vendor (seed 004, "User deletion").
public enum ChatCenterDeauthorizeUser: SDKMethod {
  public static let name = "chatCenter.deauthorizeUser"
  public static let summary = "Forgets the user here; the vendor is not told."
  public static let documentation = """
    Local and done at the reply: the socket is closed, and credentials, storage, prefill and pending data are gone. The
    push subscription stays at the vendor and is listed as orphaned. Valid in every state.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .ednaChatCenter
  public static let errors: [DeclaredError] = [.identityState, .logoutInProgress]
  public static let example = MethodExample(
    ["instance": "clinic"])

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
