import Synchronization

/// A condition did not come true in time.
struct NotInTime: Error, CustomStringConvertible {
  let description: String
}

/// Waits until `condition` holds, and fails after a deadline that no healthy machine needs.
func waitUntil(_ what: String, _ condition: () -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(20)
  while !condition() {
    guard .now < deadline else { throw NotInTime(description: "not in time: \(what)") }
    try await Task.sleep(for: .milliseconds(1))
  }
}

/// Holds those who come until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrivals = 0
  }

  private let state = Mutex(State())

  /// How many have come.
  var arrivals: Int { state.withLock { $0.arrivals } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrivals += 1
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
