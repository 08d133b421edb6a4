import StateStore
import Synchronization

/// Where events are left by those who commit them, who wait for no subscriber.
final class EventInbox: Sendable {
  private struct State {
    var order: EventOrder
    var isServed = false
  }

  private let state: Mutex<State>
  private let capacity: Int

  init(capacity: Int = 4096) {
    self.capacity = capacity
    state = Mutex(State(order: EventOrder(after: 0, capacity: capacity)))
  }

  /// Begins after a position.
  func begin(after position: UInt64) {
    state.withLock { $0.order = EventOrder(after: position, capacity: capacity) }
  }

  /// Takes events in.
  ///
  /// - Returns: whether somebody has to be called who takes them out.
  func add(_ events: [StoredEvent]) -> Bool {
    state.withLock { state in
      state.order.add(events)
      guard !state.isServed, state.order.count > 0 else { return false }
      state.isServed = true
      return true
    }
  }

  /// The next event in the order. Unless it is one, whoever takes them out is done and will be called again.
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
  var count: Int { state.withLock { $0.order.count } }
}
