import Synchronization
import Waiting

/// The error of a condition that did not hold in time.
struct NotInTime: Error, CustomStringConvertible {
  let description: String
}

/// Waits until `condition` holds. Throws `NotInTime` when a `Patience` is over.
func waitUntil(_ what: String, _ condition: () -> Bool) async throws {
  var patience = Patience()
  while !condition() {
    guard !patience.isOver() else { throw NotInTime(description: "not in time: \(what)") }
    try await Task.sleep(for: .milliseconds(1))
  }
}

/// A gate that suspends callers until it is opened, and counts them.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrivals = 0
  }

  private let state = Mutex(State())

  /// The number of calls of `wait()`.
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
