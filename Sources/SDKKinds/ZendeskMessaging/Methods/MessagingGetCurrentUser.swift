public import JSONRPC
public import SDKInstances
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

  public typealias Result = User
}
