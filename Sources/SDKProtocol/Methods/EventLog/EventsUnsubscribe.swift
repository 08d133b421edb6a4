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
  public static let example = MethodExample(
    ["subscription": "s1"])

  /// The params of `events.unsubscribe`.
  public struct Params: RPCValue {
    /// The subscription's name on this connection.
    public var subscription: String

    /// Creates params with these members.
    public init(subscription: String) {
      self.subscription = subscription
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "the subscription")
    ])
  }

  public typealias Result = Empty
}
