public import JSONRPC
import SDKInstances
public import SDKProtocol

/// `chat.resetIdentity`: deletes the visitor's state (the vendor's guide, "resetIdentity").
public enum ChatResetIdentity: SDKMethod {
  public static let name = "chat.resetIdentity"
  public static let summary = "Forgets the visitor and wipes what the instance stores."
  public static let documentation = """
    Valid in every state, and nothing is sent. Answers when machine id, id token, state and authenticator are gone;
    calls that follow wait for it. The next session is that of a new anonymous visitor.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .zendeskChat
  public static let errors: [DeclaredError] = [.identityState, .logoutInProgress]
  public static let example = MethodExample(
    ["instance": "visitors"])
  public static let commands = [CommandUse(verb: "logout")]

  public typealias Params = OneInstance
  public typealias Result = Empty
}
