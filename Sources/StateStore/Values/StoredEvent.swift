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
  public var lost: [InstanceUUID: UInt64] = [:]
  /// The numbers of the losses to retention. A later loss has a higher number.
  public var lossNumbers: [InstanceUUID: UInt64] = [:]
  /// The position of the last damaged event of the page; 0 without one.
  public var damaged: UInt64 = 0

  /// Returns the place for a reader who is now notified of a gap; `nil` if the page has no loss after the place that the
  /// reader was not notified of.
  ///
  /// - Parameter watched: the instances that the reader watches; `nil` for all. Losses of deleted instances whose access
  ///   rules are no longer known, and damaged events, concern every reader.
  public func gap(at place: EventPlace, of watched: Set<InstanceUUID>?) -> EventPlace? {
    let numbers = lost.keys.lazy.filter { uuid in
      (uuid == .anyDeleted || watched?.contains(uuid) != false) && lost[uuid, default: 0] > place.position
    }.compactMap { lossNumbers[$0] }
    var next = place
    next.losses = max(place.losses, numbers.max() ?? 0)
    if damaged > place.position { next.acknowledged = max(place.acknowledged, damaged) }
    return next == place ? nil : next
  }
}

/// A place in the event order, as a cursor contains it.
public struct EventPlace: Sendable, Hashable {
  /// The position of the event before this place; 0 for the place before the first event.
  public var position: UInt64
  /// The position up to which damaged events were already reported.
  public var acknowledged: UInt64
  /// The number up to which losses to retention were already reported.
  public var losses: UInt64

  /// Creates the place after the event at `position`. `acknowledged` is the position up to which damaged events were
  /// already reported, and `losses` the number up to which losses to retention were.
  public init(_ position: UInt64, acknowledged: UInt64 = 0, losses: UInt64 = 0) {
    self.position = position
    self.acknowledged = acknowledged
    self.losses = losses
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
