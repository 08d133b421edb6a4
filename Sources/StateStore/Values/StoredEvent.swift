public import JSONRPC
public import SDKProtocol

/// An event as the store keeps it. `position` is its number in the single order of all events; it starts at 1 and is
/// never reused.
public struct StoredEvent: Sendable, Hashable {
  public var position: UInt64
  public var uuid: InstanceUUID
  public var id: InstanceID
  public var kind: KindName
  public var time: Timestamp
  public var type: EventType
  public var service: String?
  public var operation: String?
  public var data: JSONObject
  /// The access rules for the events of a deleted instance, written with its last event.
  public var audience: JSON?

  /// Creates an event.
  public init(
    position: UInt64, uuid: InstanceUUID, id: InstanceID, kind: KindName, time: Timestamp, type: EventType,
    service: String? = nil, operation: String? = nil, data: JSONObject, audience: JSON? = nil
  ) {
    self.position = position
    self.uuid = uuid
    self.id = id
    self.kind = kind
    self.time = time
    self.type = type
    self.service = service
    self.operation = operation
    self.data = data
    self.audience = audience
  }
}

/// A page of the event log, read from one snapshot.
public struct EventPage: Sendable, Hashable {
  /// The events, oldest first.
  public var events: [StoredEvent]
  /// The position up to which the log was searched. Events up to it that are missing in the page were not requested or
  /// are damaged.
  public var reached: UInt64
  /// The newest position ever assigned.
  public var newest: UInt64
  /// The instances that lost events after the requested position, each with the newest position that retention has
  /// removed. ``InstanceUUID/anyDeleted`` stands for deleted instances of which no event is left, and for the events of
  /// the page that are damaged.
  public var lost: [InstanceUUID: UInt64]

  /// Creates a page.
  public init(events: [StoredEvent], reached: UInt64, newest: UInt64, lost: [InstanceUUID: UInt64] = [:]) {
    self.events = events
    self.reached = reached
    self.newest = newest
    self.lost = lost
  }
}

/// The size limit of events' data (sdkd-protocol(7)).
package enum EventData {
  /// The maximum size of an event's data as JSON, in bytes.
  static let maximumBytes = 8 << 10
  /// The limits on the bytes of a text and the elements of a list, tried in this order until the data fits.
  private static let steps: [(bytes: Int, elements: Int)] = [(1024, 64), (256, 32), (64, 16), (16, 8)]

  /// Returns the data if it fits. Otherwise cuts long texts and lists and drops long keys, with the first of `steps`
  /// that suffices. Returns an empty object if none does.
  package static func clipped(_ data: JSONObject) -> JSONObject {
    guard JSONWriter.bytes(of: .object(data)).count > maximumBytes else { return data }
    for step in steps {
      let cut = clipped(.object(data), step.bytes, step.elements)
      if JSONWriter.bytes(of: cut).count <= maximumBytes { return cut.objectValue ?? [:] }
    }
    return [:]
  }

  private static func clipped(_ json: JSON, _ bytes: Int, _ elements: Int) -> JSON {
    switch json {
    case .string(let text): .string(text.clipped(toUTF8: bytes))
    case .array(let array): .array(array.prefix(elements).map { clipped($0, bytes, elements) })
    case .object(let object):
      .object(
        JSONObject(
          object.members.lazy.filter { $0.key.utf8.count <= bytes }.prefix(elements).map {
            ($0.key, clipped($0.value, bytes, elements))
          }))
    case .null, .bool, .number: json
    }
  }
}
