import JSONRPC
import SDKInstances
public import SDKProtocol

/// `messaging.getCurrentUser`: returns the current user (the vendor's guide, "Checking the current SDK user").
public enum MessagingGetCurrentUser: SDKMethod {
  public static let name = "messaging.getCurrentUser"
  public static let summary = "Who is signed in."
  public static let documentation = "The user, also when there is none; the same as instance.currentUser."
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read
  public static let kind: KindName? = .zendeskMessaging
  public static let errors: [DeclaredError] = [.wrongKind]
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: MethodExample.user)

  public typealias Params = OneInstance
  public typealias Result = User
}
