internal import JSONRPC

/// Calls that wait for their answers. A value; whoever holds it guards it.
struct PendingCalls {
  typealias Waiter = CheckedContinuation<JSON, any Error>
  typealias Instant = ContinuousClock.Instant

  private enum Call {
    /// The id is given out, nobody waits yet.
    case reserved
    /// The task was cancelled before it waited.
    case cancelled
    case waiting(Waiter, deadline: Instant?)
  }

  private var calls: [Int: Call] = [:]
  private var lastID = 0

  var isEmpty: Bool { calls.isEmpty }

  /// When the next call is over time.
  var nextDeadline: Instant? {
    calls.values.compactMap { if case .waiting(_, let deadline) = $0 { deadline } else { nil } }.min()
  }

  mutating func reserve() -> Int {
    lastID += 1
    calls[lastID] = .reserved
    return lastID
  }

  /// False when the call was cancelled already, and then it is forgotten.
  mutating func wait(_ id: Int, _ waiter: Waiter, until deadline: Instant?) -> Bool {
    if case .cancelled = calls[id] {
      calls[id] = nil
      return false
    }
    calls[id] = .waiting(waiter, deadline: deadline)
    return true
  }

  /// Who waits for an answer that has come; `nil` for nobody.
  mutating func remove(_ id: Int) -> Waiter? {
    guard case .waiting(let waiter, _) = calls[id] else { return nil }
    calls[id] = nil
    return waiter
  }

  /// Who waited in the task that was cancelled; `nil` if it doesn't wait yet or has its answer.
  mutating func cancel(_ id: Int) -> Waiter? {
    if case .reserved = calls[id] { calls[id] = .cancelled }
    return remove(id)
  }

  /// Takes out the calls that are over time.
  mutating func removeOverdue(at now: Instant) -> [(id: Int, waiter: Waiter)] {
    let overdue = calls.compactMap { id, call -> Int? in
      guard case .waiting(_, let deadline?) = call, deadline <= now else { return nil }
      return id
    }
    return overdue.compactMap { id in remove(id).map { (id, $0) } }
  }

  /// Takes out everybody who waits.
  mutating func removeAll() -> [Waiter] {
    calls.keys.sorted().compactMap { remove($0) }
  }
}
