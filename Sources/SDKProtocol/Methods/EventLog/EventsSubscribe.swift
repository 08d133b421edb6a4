public import JSONRPC

/// `events.subscribe`: delivers events as they happen.
public enum EventsSubscribe: SDKMethod {
  public static let name = "events.subscribe"
  public static let summary = "Events as they happen."
  public static let documentation = """
    Delivers the events of visible instances as `events.event` notifications on this connection; the reply
    precedes the first. Without `since` from now; with it what came after that cursor is replayed first, in
    order, without loss or repetition. Without filters: all visible instances, those made later included.
    A cursor older than what is kept, or of another state, begins with `events.gap` instead, and the subscription
    waits for `events.resume`. Errors: tooManySubscriptions; invalidParams for a since that is no cursor.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = [
    .instanceNotFound, DeclaredError("subscriptionLimits", .limit, [.tooManySubscriptions]),
  ]
  public static let example = MethodExample(
    ["instances": ["front-desk"], "since": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    result: ["subscription": "s1", "cursor": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])

  /// The params of `events.subscribe`.
  public struct Params: RPCValue {
    /// The instances whose events are delivered; all visible ones unless given.
    public var instances: [InstanceID]?
    /// The labels that an event's instance must all have.
    public var labels: [String: String]?
    /// The types of event that are delivered; all unless given.
    public var types: [EventType]?
    /// The cursor after which stored events are replayed first; only new events are delivered unless given.
    public var since: String?

    /// Creates params with these members.
    public init(
      instances: [InstanceID]? = nil, labels: [String: String]? = nil, types: [EventType]? = nil, since: String? = nil
    ) {
      self.instances = instances
      self.labels = labels
      self.types = types
      self.since = since
    }

    public static let jsonSchema = JSONSchema.object([
      .optional("instances", .array(InstanceID.jsonSchema), "only these instances"),
      .optional("labels", .map(.string(), atMost: 64), "only instances with all of these labels"),
      .optional("types", .array(EventType.jsonSchema), "only these types"),
      .optional("since", .cursor, "replay what came after this cursor first"),
    ])
  }

  /// The result of `events.subscribe`.
  public struct Result: RPCValue {
    /// The subscription's name on this connection.
    public var subscription: String
    /// The cursor at which the subscription begins.
    public var cursor: String

    /// Creates a result with these members.
    public init(subscription: String, cursor: String) {
      self.subscription = subscription
      self.cursor = cursor
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "the subscription's name on this connection"),
      .required("cursor", .cursor, "where it begins"),
    ])
  }
}

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
