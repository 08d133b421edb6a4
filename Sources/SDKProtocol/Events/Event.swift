public import JSONRPC

/// An event of an instance.
public struct Event: RPCValue, Hashable {
  /// The event's position in the daemon's total order of events, as an opaque string.
  public var cursor: String
  /// The time at which the event happened.
  public var time: Timestamp
  /// The instance that the event is about.
  public var instance: InstanceID
  /// The instance's kind.
  public var kind: KindName
  /// The service, for kinds that have several.
  public var service: String?
  /// The type of the event.
  public var type: EventType
  /// The operation that the event completes, for methods that respond with `accepted`.
  public var operation: String?
  /// The details of the event: up to 8 KiB, without secrets.
  public var data: JSONObject

  /// Creates an event.
  public init(
    cursor: String, time: Timestamp, instance: InstanceID, kind: KindName, service: String? = nil, type: EventType,
    operation: String? = nil, data: JSONObject = [:]
  ) {
    self.cursor = cursor
    self.time = time
    self.instance = instance
    self.kind = kind
    self.service = service
    self.type = type
    self.operation = operation
    self.data = data
  }

  public static let jsonSchema = JSONSchema.named(
    "Event", .oneOf(EventType.allCases.map(\.eventSchema), discriminator: "type"))
}
