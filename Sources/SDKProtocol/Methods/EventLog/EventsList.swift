public import JSONRPC

/// `events.list`: returns past events.
public enum EventsList: SDKMethod {
  public static let name = "events.list"
  public static let summary = "Events of the past."
  public static let documentation = """
    Events of visible instances after a cursor, oldest first; without `since` from the oldest kept. `next` is
    the cursor of the next page and absent when there is none now; `cursor` is the end of what was read. A page
    may be empty and have a `next`: little of what was read matched. With `gap` events after `since` are no longer
    kept. Events of a deleted instance are shown to those who had a role on it then.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = [.instanceNotFound]
  public static let example = MethodExample(
    ["instances": ["front-desk"], "types": ["userLoggedIn"], "limit": 1],
    result: [
      "events": [
        [
          "cursor": "EMi-xUo-voZKkfiuVtBNKo_o30GYGdgz",
          "time": "2026-11-24T08:42:35.272Z",
          "instance": "front-desk",
          "kind": "zendesk.messaging",
          "type": "userLoggedIn",
          "data": ["user": MethodExample.user],
        ]
      ],
      "cursor": "DCfmAcO0LBZU2orGOUaNLGJxfY3O6YnaF4wjRotMCu1tsZreI-JM3Q",
    ])

  /// The params of `events.list`.
  public struct Params: RPCValue {
    /// The instances whose events are returned; all visible ones unless given.
    public var instances: [InstanceID]?
    /// The labels that an event's instance must all have.
    public var labels: [String: String]?
    /// The types of event that are returned; all unless given.
    public var types: [EventType]?
    /// The cursor after which events are returned; from the oldest stored event unless given.
    public var since: String?
    /// The maximum number of events: 1 to 500; 100 unless given.
    public var limit: Int?

    /// Creates params with these members.
    public init(
      instances: [InstanceID]? = nil, labels: [String: String]? = nil, types: [EventType]? = nil,
      since: String? = nil, limit: Int? = nil
    ) {
      self.instances = instances
      self.labels = labels
      self.types = types
      self.since = since
      self.limit = limit
    }

    public static let jsonSchema = JSONSchema.object([
      .optional("instances", .array(InstanceID.jsonSchema), "only these instances"),
      .optional("labels", .map(.string(), atMost: 64), "only instances with all of these labels"),
      .optional("types", .array(EventType.jsonSchema), "only these types"),
      .optional("since", .cursor, "only what came after this cursor"),
      .optional("limit", .integer(minimum: 1, maximum: 500), "how many at most; 100 unless given"),
    ])
  }

  /// The result of `events.list`.
  public struct Result: RPCValue {
    /// The events, oldest first.
    public var events: [Event]
    /// The cursor up to which events were read.
    public var cursor: String
    /// The cursor to pass as `since` for the next page; `nil` if there is none now.
    public var next: String?
    /// Whether events after `since` are no longer stored; `nil` if all are.
    public var gap: Bool?

    /// Creates a result with these members.
    public init(events: [Event], cursor: String, next: String? = nil, gap: Bool? = nil) {
      self.events = events
      self.cursor = cursor
      self.next = next
      self.gap = gap
    }

    public static let jsonSchema = JSONSchema.object([
      .required("events", .array(Event.jsonSchema), "the events, oldest first"),
      .required("cursor", .cursor, "the end of what was read"),
      .optional("next", .cursor, "give it as since for the next page"),
      .optional("gap", .boolean, "true when events after since are no longer kept"),
    ])
  }
}
