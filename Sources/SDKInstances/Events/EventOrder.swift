import StateStore

/// Puts committed events into the order of their positions: those that commit them report them as it happens.
struct EventOrder {
  /// What is to be done next.
  enum Next {
    /// This event comes next.
    case event(StoredEvent)
    /// Later ones are known, but not the next one.
    case missing
    case nothing
  }

  /// The last position that was given out.
  private(set) var reached: UInt64
  /// The newest position that is known.
  private(set) var newest: UInt64
  private var waiting: [UInt64: StoredEvent] = [:]
  /// More events than this are not held: they are in the store.
  private let capacity: Int

  init(after position: UInt64, capacity: Int) {
    reached = position
    newest = position
    self.capacity = capacity
  }

  /// How many events wait.
  var count: Int { waiting.count }

  mutating func add(_ events: [StoredEvent]) {
    for event in events where event.position > reached {
      newest = max(newest, event.position)
      if waiting.count < capacity { waiting[event.position] = event }
    }
  }

  mutating func next() -> Next {
    guard reached < newest else { return .nothing }
    guard let event = waiting.removeValue(forKey: reached + 1) else { return .missing }
    reached += 1
    return .event(event)
  }

  /// Whether the next event waits or nothing does.
  var isWhole: Bool { reached == newest || waiting[reached + 1] != nil }

  /// Goes on after a position that was read from the store.
  mutating func skip(to position: UInt64) {
    guard position > reached else { return }
    reached = position
    newest = max(newest, position)
    waiting = waiting.filter { $0.key > position }
  }
}
