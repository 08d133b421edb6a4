import JSONRPC
import SDKProtocol
import StateStore

/// A subscriber's position in the order of events. Only the hub accesses it.
final class Subscription {
  enum Phase {
    /// The reply to the caller is not sent yet.
    case waiting
    /// Past events are being delivered.
    case replaying
    /// New events are delivered as they happen.
    case live
    /// Delivery is paused from a gap until `events.resume`.
    case paused
  }

  /// The number of the subscription in the hub.
  let id: UInt64
  /// The name of the subscription on its connection.
  let name: String
  let link: any ClientLink
  let session: ObjectIdentifier
  /// Whether the peer was a stranger when it subscribed.
  let isOfStranger: Bool
  let filter: EventFilter
  var phase = Phase.waiting
  /// The position up to which all events were delivered or skipped. While live it does not advance: it only excludes
  /// earlier events.
  var place: EventPlace
  /// Whether the subscriber's cursor belongs to another state.
  var isForeign: Bool
  /// Whether `place` was compared with the events that the store retains. Until then, replay ignores the events in
  /// memory, which may include dropped ones.
  var isCompared = false
  /// The last cursor that the subscriber knows.
  var lastCursor: String?

  /// The bytes before and after an event in its notification.
  private let head: [UInt8]
  private static let tail = Array("}}".utf8)

  init(
    id: UInt64, name: String, link: any ClientLink, session: ObjectIdentifier, filter: EventFilter, place: EventPlace?
  ) {
    self.id = id
    self.name = name
    self.link = link
    self.session = session
    isOfStranger = link.isStranger
    self.filter = filter
    self.place = place ?? EventPlace(0)
    isForeign = place == nil
    var writer = JSONWriter(reserving: 96)
    writer.write(raw: #"{"jsonrpc":"2.0","method":"#)
    writer.write(string: EventsEvent.name)
    writer.write(raw: #","params":{"subscription":"#)
    writer.write(string: name)
    writer.write(raw: #","event":"#)
    head = writer.bytes
  }

  /// Sends an event to the subscriber.
  func send(_ text: EventText) {
    var line: [UInt8] = []
    line.reserveCapacity(head.count + text.bytes.count + Self.tail.count)
    line += head
    line += text.bytes
    line += Self.tail
    link.send(line)
    lastCursor = text.cursor
  }
}

/// An event with its cursor and JSON text, each encoded once for all subscribers.
final class EventText {
  let event: StoredEvent
  private let cursors: CursorCoder

  init(_ event: StoredEvent, cursors: CursorCoder) {
    self.event = event
    self.cursors = cursors
  }

  private(set) lazy var cursor = cursors.encode(event.position)

  private(set) lazy var shape = Event(
    cursor: cursor, time: event.time, instance: event.id, kind: event.kind, service: event.service, type: event.type,
    operation: event.operation, data: event.data)

  /// The JSON text of the event.
  private(set) lazy var bytes = ((try? JSONValueEncoder.encode(shape)).map(JSONWriter.bytes(of:))) ?? []
}
