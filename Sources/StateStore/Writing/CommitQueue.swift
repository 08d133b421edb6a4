import SDKProtocol
import Synchronization

/// A queue of the changes that wait for the writer, in the order of their calls. The changes for which callers wait are
/// bounded.
final class CommitQueue: Sendable {
  /// The result of offering a change to the queue.
  enum Admission {
    /// The change waits, and the writer was already called.
    case accepted
    /// The change waits, and the caller must call the writer.
    case acceptedFirst
    case full
    case closed
  }

  private struct State {
    var waiting: [PendingCommit] = []
    /// The number of the waiting changes for which callers wait.
    var demanded = 0
    var isWriterCalled = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func offer(_ commit: PendingCommit) -> Admission {
    state.withLock { state in
      guard !state.isClosed else { return .closed }
      if commit.change.isDemanded {
        guard state.demanded < limit else { return .full }
        state.demanded += 1
      }
      state.waiting.append(commit)
      defer { state.isWriterCalled = true }
      return state.isWriterCalled ? .accepted : .acceptedFirst
    }
  }

  /// Removes and returns the next changes for one transaction. If there are none, the writer must be called again for
  /// the next change.
  func take(atMost count: Int) -> [PendingCommit] {
    state.withLock { state in
      if state.waiting.isEmpty { state.isWriterCalled = false }
      let taken = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(taken.count)
      state.demanded -= taken.count(where: \.change.isDemanded)
      return taken
    }
  }

  /// Stops accepting changes. Returns false if the queue was already closed.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  var waitingCount: Int { state.withLock { $0.waiting.count } }
}

/// A change that waits for the writer, and the continuation that gets its result.
struct PendingCommit: Sendable {
  let change: InstanceChange
  let answer: CheckedContinuation<Result<CommitResult, SDKError>, Never>
}
