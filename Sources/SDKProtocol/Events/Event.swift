public import JSONRPC

/// Something that happened to an instance.
public struct Event: RPCValue, Hashable {
  /// Its place in the daemon's one order; opaque.
  public var cursor: String
  /// When it happened.
  public var time: Timestamp
  /// To which instance.
  public var instance: InstanceID
  /// The instance's SDK.
  public var kind: KindName
  /// The service, for kinds that have several.
  public var service: String?
  /// What happened.
  public var type: EventType
  /// The operation it ends, for methods that answer `accepted`.
  public var operation: String?
  /// More about it, up to 8 KiB, without secrets.
  public var data: JSONObject

  /// An event with these parts.
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
    "Event",
    .object([
      .required("cursor", .string(), "its place in the daemon's order; opaque"),
      .required("time", Timestamp.jsonSchema, "when it happened"),
      .required("instance", InstanceID.jsonSchema, "to which instance"),
      .required("kind", KindName.jsonSchema, "the instance's SDK"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .required("type", .enumeration(EventType.allCases.map(\.rawValue)), "what happened"),
      .optional("operation", .string(), "the operation it ends"),
      .required("data", .map(.any), "more about it"),
    ]))
}
