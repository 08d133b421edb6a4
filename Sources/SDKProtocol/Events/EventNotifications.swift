public import JSONRPC

/// `events.event`: an event of a subscription.
public enum EventsEvent: RPCNotification {
  public static let name = "events.event"
  public static let summary = "One event of a subscription."

  /// The subscription and the event.
  public struct Params: RPCValue {
    public var subscription: String
    public var event: Event

    /// Creates the params for an event.
    public init(subscription: String, event: Event) {
      self.subscription = subscription
      self.event = event
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "the subscription's name on this connection"),
      .required("event", Event.jsonSchema, "what happened"),
    ])
  }
}

/// `events.gap`: events were missed; the subscription is paused until `events.resume`.
public enum EventsGap: RPCNotification {
  public static let name = "events.gap"
  public static let summary = "Events were missed: read the state again, then go on from `resume`."

  /// The subscription and the bounds of the gap.
  public struct Params: RPCValue {
    public var subscription: String
    public var from: String?
    public var resume: String

    /// Creates a gap from the last delivered cursor, if any, to the cursor to resume from.
    public init(subscription: String, from: String?, resume: String) {
      self.subscription = subscription
      self.from = from
      self.resume = resume
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "the subscription's name on this connection"),
      .optional("from", .cursor, "the last cursor before the gap"),
      .required("resume", .cursor, "the cursor to resume from"),
    ])
  }
}

/// `daemon.closing`: the daemon is stopping. The client should connect again later.
public enum DaemonClosing: RPCNotification {
  public static let name = "daemon.closing"
  public static let summary = "The daemon stops; connect again and resume from the last cursor."

  /// The time that requests in progress have to finish.
  public struct Params: RPCValue {
    public var graceSeconds: Double

    /// Creates the params from the grace period in seconds.
    public init(graceSeconds: Double) { self.graceSeconds = graceSeconds }

    public static let jsonSchema = JSONSchema.object([
      .required("graceSeconds", .number, "how long requests in progress may take")
    ])
  }
}
