public import JSONRPC

/// `events.event`: one event of a subscription.
public enum EventsEvent: RPCNotification {
  public static let name = "events.event"
  public static let summary = "One event of a subscription."

  /// The subscription and the event.
  public struct Params: RPCValue {
    public var subscription: String
    public var event: Event

    /// A delivery.
    public init(subscription: String, event: Event) {
      self.subscription = subscription
      self.event = event
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "whose"), .required("event", Event.jsonSchema, "what happened"),
    ])
  }
}

/// `events.gap`: events were missed; the subscription is paused until `events.resume`.
public enum EventsGap: RPCNotification {
  public static let name = "events.gap"
  public static let summary = "Events were missed: read the state again, then go on from `resume`."

  /// What was missed.
  public struct Params: RPCValue {
    public var subscription: String
    public var from: String?
    public var resume: String

    /// A gap from the last cursor delivered to where reading can go on.
    public init(subscription: String, from: String?, resume: String) {
      self.subscription = subscription
      self.from = from
      self.resume = resume
    }

    public static let jsonSchema = JSONSchema.object([
      .required("subscription", .string(), "whose"),
      .optional("from", .string(), "the last cursor before the gap"),
      .required("resume", .string(), "the cursor to go on from"),
    ])
  }
}

/// `daemon.closing`: the daemon stops; connect again in a while.
public enum DaemonClosing: RPCNotification {
  public static let name = "daemon.closing"
  public static let summary = "The daemon stops; connect again and resume from the last cursor."

  /// How long what runs may take.
  public struct Params: RPCValue {
    public var graceSeconds: Double

    /// The grace in seconds.
    public init(graceSeconds: Double) { self.graceSeconds = graceSeconds }

    public static let jsonSchema = JSONSchema.object([
      .required("graceSeconds", .number, "how long requests in progress may take")
    ])
  }
}
