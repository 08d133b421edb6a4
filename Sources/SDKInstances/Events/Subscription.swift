import JSONRPC
import SDKProtocol
import StateStore

/// A subscriber's place in the order of events. The hub's own, nobody else touches it.
final class Subscription {
  enum Phase {
    /// The reply has not gone out yet.
    case waiting
    /// Reading what came before.
    case replaying
    /// Told as it happens.
    case live
    /// After a gap, until `events.resume`.
    case paused
  }

  /// Its number in the hub.
  let id: UInt64
  /// Its name on the connection.
  let name: String
  let link: any ClientLink
  let session: ObjectIdentifier
  let filter: EventFilter
  var phase = Phase.waiting
  /// All up to here was delivered or passed over. While it is live, only that nothing before it is wanted.
  var place: EventPlace
  /// The place it was given is one of another state.
  var isForeign: Bool
  /// What it asks for was compared with what is still kept; before, memory may have more than that.
  var isCompared = false
  /// The last place that its owner knows of.
  var lastCursor: String?

  /// What stands before and after an event in its notification.
  private let head: [UInt8]
  private static let tail = Array("}}".utf8)

  init(
    id: UInt64, name: String, link: any ClientLink, session: ObjectIdentifier, filter: EventFilter, place: EventPlace?
  ) {
    self.id = id
    self.name = name
    self.link = link
    self.session = session
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

  /// Tells an event.
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
