public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.getChat`: opens the chat (seed 004, "Prefilling the input field").
public enum ChatCenterGetChat: SDKMethod {
  public static let name = "chatCenter.getChat"
  public static let summary = "All that an app needs to open the chat."
  public static let documentation = """
    The same as session.open: gives the prefilled text once and delivers updated data when the connection is live.
    A lost connection is tried again at once and not waited for; live says whether it is open. userNotAuthorized without
    a user. A login that was accepted just before is waited for.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let kind: KindName? = .ednaChatCenter

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

  public typealias Result = Session
}
