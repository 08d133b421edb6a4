import StateStore
import Synchronization

/// A buffer of committed events, so that committing never waits for subscribers.
final class EventInbox: Sendable {
  private struct Buffer {
    var order: EventOrder
    var isServed = false
  }

  private let state: Mutex<Buffer>
  private let capacity: Int

  init(capacity: Int = 4096) {
    self.capacity = capacity
    state = Mutex(Buffer(order: EventOrder(after: 0, capacity: capacity)))
  }

  /// Empties the buffer and starts after a position.
  func begin(after position: UInt64) {
    state.withLock { $0.order = EventOrder(after: position, capacity: capacity) }
  }

  /// Adds events.
  ///
  /// - Returns: whether the caller must start a consumer, which then calls `next` repeatedly.
  func add(_ events: [StoredEvent]) -> Bool {
    state.withLock { state in
      state.order.add(events)
      guard !state.isServed, state.order.count > 0 else { return false }
      state.isServed = true
      return true
    }
  }

  /// Returns the next event in order. On any other result the consumer must stop; `add` requests a new one.
  func next() -> EventOrder.Next {
    state.withLock { state in
      let next = state.order.next()
      if case .event = next { return next }
      state.isServed = false
      return next
    }
  }

  func skip(to position: UInt64) { state.withLock { $0.order.skip(to: position) } }

  /// The newest position that is known.
  var newest: UInt64 { state.withLock { $0.order.newest } }
  /// The last position before the first missing event.
  var contiguous: UInt64 { state.withLock { $0.order.contiguous } }
  var count: Int { state.withLock { $0.order.count } }
}
