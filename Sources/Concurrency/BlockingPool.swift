internal import DequeModule
public import Linux
internal import Synchronization

/// Threads for work that blocks in system calls, so that it occupies no thread of Swift's pool or of an event loop.
///
/// A thread starts when there is work for it, and ends when there is none. Work that hangs occupies one thread.
public final class BlockingPool: Sendable {
  /// Work for a thread. It gets an error instead of a thread if none can be started.
  public typealias Work = @Sendable (SystemCallError?) -> Void
  /// Starts a thread with a body.
  typealias Start = @Sendable (@escaping @Sendable () -> Void) throws(SystemCallError) -> Void

  private struct State {
    var threads = 0
    var work: Deque<Work> = []

    /// Returns the next work for a thread. `nil` ends the thread, which is counted under the same lock.
    mutating func next() -> Work? {
      let next = work.popFirst()
      if next == nil { threads -= 1 }
      return next
    }

    /// Counts a thread as ended that could not be started. Returns the work that no other thread will do.
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

  /// A pool of up to `maximum` threads with a name of at most 15 bytes.
  public convenience init(name: String, maximum: Int) {
    self.init(maximum: maximum) { body throws(SystemCallError) in try SystemThread.start(name: name, body: body) }
  }

  init(maximum: Int, start: @escaping Start) {
    self.maximum = maximum
    self.start = start
  }

  /// Queues work, which begins in the order of the calls.
  ///
  /// - Parameter work: gets an error, on the calling thread, if the pool has no thread and none can be started.
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

  /// Runs work that blocks and returns its value. Cancelling the task does not end it.
  ///
  /// - Throws: what the work throws; `SystemCallError` if there is no thread for it.
  public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      submit { error in
        continuation.resume(with: error.map { .failure($0) } ?? Result(catching: work))
      }
    }
  }

  /// Works until the queue is empty; the body of a thread.
  private func run() {
    while let work = state.withLock({ $0.next() }) { work(nil) }
  }
}
