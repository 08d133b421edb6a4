public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.updateData`: updates the attributes of the user (the vendor's guide, "Updating user data").
public enum ChatCenterUpdateData: SDKMethod {
  public static let name = "chatCenter.updateData"
  public static let summary = "Updates the user's attributes."
  public static let documentation = """
    They are kept durably and reach the vendor when a chat opens while the connection is live; null clears them.
    userNotAuthorized without a user. While another user's login is under way they are that user's: the call answers
    with the login.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .ednaChatCenter
  public static let errors: [DeclaredError] = [.userState, .chatCenterVendor, .unreachable]
  public static let example = MethodExample(
    ["instance": "clinic", "data": ["city": "Riga"]])

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The attributes; `nil` clears them.
    public var data: [String: String]?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("data", .oneOf([.map(.string()), .null]), "the attributes; null clears them"),
    ])
  }

  public typealias Result = Empty
}
