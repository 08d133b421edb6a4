public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.logout`: ends the session (seed 004, "User logout").
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
  public static let kind: KindName? = EdnaChatCenter.kindName
  public static let commands = [CommandUse(verb: "logout")]

  /// What the caller sends.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// Wait for the outcome.
    public var wait: Bool?
    /// How long to wait; the work goes on without the caller.
    public var timeout: Seconds?

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .optional("wait", .boolean, "wait for the outcome"),
      .optional("timeout", Seconds.jsonSchema, "with wait: how long; the work goes on without the caller"),
    ])
  }

  /// What the caller gets.
  public struct Result: RPCValue {
    /// True.
    public var accepted = true
    /// The operation that the event of the outcome names.
    public var operation: String

    /// An accepted logout.
    init(operation: String) { self.operation = operation }

    public static let jsonSchema = JSONSchema.object([
      .required("accepted", .boolean, "true"),
      .required("operation", .string(), "the operation that the event of the outcome names"),
    ])
  }
}
