internal import DequeModule
public import Linux
internal import Synchronization

/// A pool of threads for work that blocks in system calls, so that the work occupies no thread of Swift's pool or of an
/// event loop.
///
/// A thread starts when there is work for it, and ends when there is none. Work that hangs occupies one thread.
public final class BlockingPool: Sendable {
  /// A unit of work. Its parameter is `nil` on a thread of the pool. It is the error if no thread could be started.
  public typealias Work = @Sendable (SystemCallError?) -> Void
  /// A function that starts a thread, which runs the given body.
  typealias Start = @Sendable (@escaping @Sendable () -> Void) throws(SystemCallError) -> Void

  private struct State {
    var threads = 0
    var work: Deque<Work> = []

    /// Removes and returns the next queued work. Returns `nil` if the queue is empty; the calling thread is then
    /// uncounted and must end.
    mutating func next() -> Work? {
      let next = work.popFirst()
      if next == nil { threads -= 1 }
      return next
    }

    /// Uncounts a thread that could not be started. If no thread is left, removes all queued work and returns it;
    /// otherwise returns an empty queue.
    mutating func remainsOfThread() -> Deque<Work> {
      threads -= 1
      guard threads == 0 else { return [] }
      defer { work = [] }
      return work
    }
  }

  private let maximum: Int
  private let start: Start
  private let state = Mutex(State())

  /// Creates a pool of at most `maximum` threads. Each thread gets the name `name`, of at most 15 bytes.
  public convenience init(name: String, maximum: Int) {
    self.init(maximum: maximum) { body throws(SystemCallError) in try SystemThread.start(name: name, body: body) }
  }

  init(maximum: Int, start: @escaping Start) {
    self.maximum = maximum
    self.start = start
  }

  /// Queues work. Queued work begins in the order of the calls.
  ///
  /// - Parameter work: called on the calling thread, with an error, if the pool has no thread and none can be started.
  public func submit(_ work: @escaping Work) {
    let isNeeded = state.withLock { state in
      state.work.append(work)
      guard state.threads < maximum else { return false }
      state.threads += 1
      return true
    }
    guard isNeeded else { return }
    do { try start(run) } catch {
      for refused in state.withLock({ $0.remainsOfThread() }) { refused(error) }
    }
  }

  /// Runs blocking work on a thread of the pool and returns its value. Cancelling the calling task does not end the
  /// work.
  ///
  /// - Throws: the error of the work; `SystemCallError` if no thread could be started.
  public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      submit { error in
        continuation.resume(with: error.map { .failure($0) } ?? Result(catching: work))
      }
    }
  }

  /// Runs queued work until the queue is empty. This is the body of each thread.
  private func run() {
    while let work = state.withLock({ $0.next() }) { work(nil) }
  }
}
