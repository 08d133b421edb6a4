import Synchronization
import Testing
import Waiting

@testable import SDKInstances

/// A gate that suspends callers until a test opens it. Later callers pass at once.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// The number of suspended callers.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// Waits until a condition holds. When a `Patience` is over, records an issue and throws.
///
/// - Parameter deadlines: what to wake before each look, as the timer does. The work that is due may not be registered
///   yet at the first.
func eventually(
  _ what: Comment, waking deadlines: Deadlines? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ holds: () async -> Bool
) async throws {
  var patience = Patience(.seconds(60))
  while true {
    deadlines?.wake()
    if await holds() { return }
    guard !patience.isOver() else {
      Issue.record("never: \(what)", sourceLocation: sourceLocation)
      throw CancellationError()
    }
    try await Task.sleep(for: .milliseconds(1))
  }
}
