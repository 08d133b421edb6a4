public import JSONRPC

/// `events.resume`: resumes a subscription after a gap.
public enum EventsResume: SDKMethod {
  public static let name = "events.resume"
  public static let summary = "Goes on after a gap."
  public static let documentation = """
    Continues a subscription that `events.gap` has paused, from a cursor: with the gap's `resume` nothing is lost
    that is still kept, and the same gap is not told again. A subscription that is not paused, or that this
    connection does not have, is invalidParams.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free
  public static let example = MethodExample(
    ["subscription": "s1", "since": "xHtBqBLVfnwcryDKaHcLfF5kYTOiegWS76MP5vlZ6yJWNNnkHH9LCg"])

  /// The params of `events.resume`.
  public struct Params: RPCValue {
    /// The subscription's name on this connection.
    public var subscription: String
    /// The cursor to resume from.
    public var since: String

    /// Creates params with these members.
    public init(subscription: String, since: String) {
      self.subscription = subscription
      self.since = since
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "the subscription"),
      .required("since", .cursor, "the cursor to go on from"),
    ])
  }

  public typealias Result = Empty
}
