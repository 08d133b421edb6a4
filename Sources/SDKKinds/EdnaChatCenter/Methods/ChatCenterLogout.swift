public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.logout`: ends the session (the vendor's guide, "User logout").
public enum ChatCenterLogout: SDKMethod {
  public static let name = "chatCenter.logout"
  public static let summary =
    "Ends the session at the vendor, its push subscription included, and wipes what is stored."
  public static let documentation = """
    Answers when accepted; the outcome is an event with this operation: userLoggedOut, or logoutFailed within the
    setting timeout, and then everything is kept. With retry_logout a failed one is tried again, across restarts, until
    it succeeds or its user is authorised again. With wait it answers after the outcome, or with why it failed.
    userNotAuthorized without a user. A sign-in that follows waits for this one's end.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .ednaChatCenter
  public static let errors: [DeclaredError] = [.userState, .chatCenterVendor, .unreachable, .provider]
  public static let example = MethodExample(
    ["instance": "clinic", "wait": true],
    result: ["accepted": true, "operation": "op-90d27a9f-32cd-4508-9c8b-35f2bafe1523"])
  public static let commands = [CommandUse(verb: "logout")]

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// Whether to wait for the outcome.
    public var wait: Bool?
    /// The seconds to wait. The operation continues after they have passed.
    public var timeout: Seconds?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("wait", .boolean, "wait for the outcome"),
      .optional("timeout", Seconds.jsonSchema, "with wait: how long; the work goes on without the caller"),
    ])
  }

  /// The result of a call.
  public struct Result: RPCValue {
    /// Whether the logout was accepted: always true.
    public var accepted = true
    /// The operation that the event of the outcome names.
    public var operation: String

    /// Creates the result of an accepted logout.
    init(operation: String) { self.operation = operation }

    public static let jsonSchema = JSONSchema.object([
      .required("accepted", .boolean, "true"),
      .required("operation", .string(), "the operation that the event of the outcome names"),
    ])
  }
}

/// `chatCenter.deauthorizeUser`: deletes the user here without informing the vendor (the vendor's guide, "User deletion").
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

  public typealias Params = OneInstance
  public typealias Result = Empty
}
