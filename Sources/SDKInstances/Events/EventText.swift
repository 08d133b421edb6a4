import JSONRPC
import SDKProtocol
import StateStore

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
