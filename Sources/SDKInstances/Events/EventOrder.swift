import StateStore

/// A buffer that sorts committed events by position. They may be reported out of order.
struct EventOrder {
  /// The next step of the consumer.
  enum Next {
    /// This event comes next.
    case event(StoredEvent)
    /// Later events are known, but not the next one.
    case missing
    case nothing
  }

  /// The last position that was returned or skipped.
  private(set) var reached: UInt64
  /// The newest position that is known.
  private(set) var newest: UInt64
  /// The last position before the first missing event.
  private(set) var contiguous: UInt64
  private var waiting: [UInt64: StoredEvent] = [:]
  /// The maximum number of events in memory. Further ones are read from the store.
  private let capacity: Int

  init(after position: UInt64, capacity: Int) {
    reached = position
    newest = position
    contiguous = position
    self.capacity = capacity
  }

  /// The number of events in memory.
  var count: Int { waiting.count }

  mutating func add(_ events: [StoredEvent]) {
    for event in events where event.position > reached {
      newest = max(newest, event.position)
      if waiting.count < capacity { waiting[event.position] = event }
    }
    extendContiguous()
  }

  private mutating func extendContiguous() {
    while waiting[contiguous + 1] != nil { contiguous += 1 }
  }

  mutating func next() -> Next {
    guard reached < newest else { return .nothing }
    guard let event = waiting.removeValue(forKey: reached + 1) else { return .missing }
    reached += 1
    return .event(event)
  }

  /// Whether no event is missing: the next event is in memory, or all known events were returned.
  var isWhole: Bool { reached == newest || waiting[reached + 1] != nil }

  /// Continues after a position that was read from the store.
  mutating func skip(to position: UInt64) {
    guard position > reached else { return }
    reached = position
    newest = max(newest, position)
    waiting = waiting.filter { $0.key > position }
    contiguous = max(contiguous, position)
    extendContiguous()
  }
}
