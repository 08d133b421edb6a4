internal import JSONRPC
internal import NIOCore
internal import Synchronization

/// The pending requests that we sent to the peer. Used on the connection's event loop only.
struct Questions {
  /// The waiting task's handle to a request.
  final class Handle: Sendable {
    let id: String
    /// Whether the task was cancelled, which may happen before the request is sent.
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
  /// The ids of the pending requests.
  var ids: [String] { Array(waiting.keys) }

  mutating func add(_ id: String, _ continuation: CheckedContinuation<Answer, Never>, timeout: Scheduled<Void>?) {
    waiting[id] = Waiting(continuation: continuation, timeout: timeout)
  }

  /// Ends a request with `answer`. Returns false if no request with this id is pending.
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
