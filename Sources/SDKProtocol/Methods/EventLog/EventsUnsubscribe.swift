public import JSONRPC

/// `events.unsubscribe`: ends a subscription.
public enum EventsUnsubscribe: SDKMethod {
  public static let name = "events.unsubscribe"
  public static let summary = "Ends a subscription."
  public static let documentation = """
    No event of the subscription follows the reply. A subscription that this connection does not have is
    invalidParams.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free

  /// What the caller sends.
  public struct Params: RPCValue {
    /// The subscription.
    public var subscription: String

    /// Each member by name.
    public init(subscription: String) {
      self.subscription = subscription
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "the subscription")
    ])
  }

  public typealias Result = Empty
}
