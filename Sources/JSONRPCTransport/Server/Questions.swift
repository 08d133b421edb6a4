internal import JSONRPC
internal import NIOCore
internal import Synchronization

/// Our own requests to the peer that have no answer yet. Used on the connection's event loop only.
struct Questions {
  /// One request, as seen from the task that waits.
  final class Handle: Sendable {
    let id: String
    /// Set when the task was cancelled, which may be seen before the question is asked.
    let isCancelled = Atomic(false)
    init(id: String) { self.id = id }
  }

  typealias Answer = Result<JSON, PeerRequestError>

  private struct Waiting {
    let continuation: CheckedContinuation<Answer, Never>
    let timeout: Scheduled<Void>?
  }

  private var waiting: [String: Waiting] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ id: String, _ continuation: CheckedContinuation<Answer, Never>, timeout: Scheduled<Void>?) {
    waiting[id] = Waiting(continuation: continuation, timeout: timeout)
  }

  /// Ends the waiting. False when there was none: the answer came already, or the id is none of ours.
  @discardableResult
  mutating func end(_ id: String, with answer: Answer) -> Bool {
    guard let question = waiting.removeValue(forKey: id) else { return false }
    question.timeout?.cancel()
    question.continuation.resume(returning: answer)
    return true
  }

  mutating func endAll(with answer: Answer) {
    for id in waiting.keys { end(id, with: answer) }
  }
}
