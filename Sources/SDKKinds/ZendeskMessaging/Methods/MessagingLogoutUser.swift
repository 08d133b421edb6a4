public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `messaging.logoutUser`: logs the user out (the vendor's guide, "LogoutUser").
public enum MessagingLogoutUser: SDKMethod {
  public static let name = "messaging.logoutUser"
  public static let summary = "Logs the user out and wipes what the instance stores."
  public static let documentation = """
    Valid in every state. The vendor is told if the token is valid. An expired one is renewed once through the
    provider; if that fails, only this machine logs out. When the vendor can't be reached everything is kept and the call fails,
    unless localOnly is set. A login or logout that follows waits for this one's end.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskMessaging
  public static let errors: [DeclaredError] = [.identityState, .unreachable]
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: ["backendInformed": true])
  public static let commands = [CommandUse(verb: "logout")]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// Whether the logout is local, without informing the vendor.
    public var localOnly: Bool?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("localOnly", .boolean, "don't tell the vendor"),
    ])
  }

  /// The result of a call.
  public struct Result: RPCValue {
    /// Whether the vendor was informed.
    public var backendInformed: Bool

    public static let jsonSchema = JSONSchema.object([
      .required("backendInformed", .boolean, "whether the vendor was told")
    ])
  }
}
