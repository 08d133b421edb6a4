internal import JSONRPC

/// The calls that wait for responses. Not synchronized: the owner must guard it.
struct PendingCalls {
  typealias Waiter = CheckedContinuation<JSON, any Error>
  typealias Instant = ContinuousClock.Instant

  private enum Call {
    /// The id is issued, but no task waits yet.
    case reserved
    /// The task was cancelled before it waited.
    case cancelled
    case waiting(Waiter, deadline: Instant?)
    /// No caller waits any more, but the response is still to come.
    case abandoned
  }

  private var calls: [Int: Call] = [:]
  private var lastID = 0

  /// The earliest deadline of a waiting call; `nil` if no call has one.
  var nextDeadline: Instant? {
    calls.values.compactMap { if case .waiting(_, let deadline) = $0 { deadline } else { nil } }.min()
  }

  mutating func reserve() -> Int {
    lastID += 1
    calls[lastID] = .reserved
    return lastID
  }

  /// Registers the waiter of a reserved call. Returns false, and removes the call, if it was cancelled before.
  mutating func wait(_ id: Int, _ waiter: Waiter, until deadline: Instant?) -> Bool {
    if case .cancelled = calls[id] {
      calls[id] = nil
      return false
    }
    calls[id] = .waiting(waiter, deadline: deadline)
    return true
  }

  /// Removes a call that has its response and returns its waiter; `nil` if none waits under this id.
  mutating func remove(_ id: Int) -> Waiter? {
    switch calls[id] {
    case .waiting(let waiter, _)?:
      calls[id] = nil
      return waiter
    case .abandoned?:
      calls[id] = nil
      return nil
    case .reserved?, .cancelled?, nil: return nil
    }
  }

  /// Ends the wait for a call and returns its waiter; `nil` if none waits under this id.
  private mutating func abandon(_ id: Int) -> Waiter? {
    guard case .waiting(let waiter, _) = calls[id] else { return nil }
    calls[id] = .abandoned
    return waiter
  }

  /// Removes the only call without a response. Returns whether there was one, and its waiter if it still waits.
  mutating func removeOnly() -> (isFound: Bool, waiter: Waiter?) {
    guard calls.count == 1, let id = calls.keys.first else { return (false, nil) }
    let waiter = remove(id)
    return (calls.isEmpty, waiter)
  }

  /// Cancels a call and returns its waiter; `nil` if its task doesn't wait yet or has its response.
  mutating func cancel(_ id: Int) -> Waiter? {
    if case .reserved = calls[id] { calls[id] = .cancelled }
    return abandon(id)
  }

  /// Returns the calls whose deadline has passed, and ends the wait for them.
  mutating func removeOverdue(at now: Instant) -> [(id: Int, waiter: Waiter)] {
    let overdue = calls.compactMap { id, call -> Int? in
      guard case .waiting(_, let deadline?) = call, deadline <= now else { return nil }
      return id
    }
    return overdue.compactMap { id in abandon(id).map { (id, $0) } }
  }

  /// Removes all waiting calls and returns their waiters.
  mutating func removeAll() -> [Waiter] {
    calls.keys.sorted().compactMap { remove($0) }
  }
}
