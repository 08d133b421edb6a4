import Synchronization

/// The changes that wait for the writer, in the order of their calls; bounded.
final class CommitQueue: Sendable {
  /// What became of a change that was offered.
  enum Admission {
    /// It waits, and the writer is on its way.
    case accepted
    /// It waits, and the writer has to be called.
    case acceptedFirst
    case full
    case closed
  }

  private struct State {
    var waiting: [PendingCommit] = []
    var isWriterCalled = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func offer(_ commit: PendingCommit) -> Admission {
    state.withLock { state in
      guard !state.isClosed else { return .closed }
      guard state.waiting.count < limit else { return .full }
      state.waiting.append(commit)
      defer { state.isWriterCalled = true }
      return state.isWriterCalled ? .accepted : .acceptedFirst
    }
  }

  /// The next changes for one transaction; none: the writer has to be called again for the next one.
  func take(atMost count: Int) -> [PendingCommit] {
    state.withLock { state in
      if state.waiting.isEmpty { state.isWriterCalled = false }
      guard state.waiting.count > count else {
        defer { state.waiting = [] }
        return state.waiting
      }
      defer { state.waiting.removeFirst(count) }
      return Array(state.waiting.prefix(count))
    }
  }

  /// Accepts nothing more; false if that was so already.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  var waitingCount: Int { state.withLock { $0.waiting.count } }
}
