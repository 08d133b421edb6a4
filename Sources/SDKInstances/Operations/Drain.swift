import Concurrency
import SDKProtocol
import Synchronization

/// The beginning of the daemon's stop.
///
/// Work that the next daemon can do again runs in `repeatable`, and ends when the drain begins. All other work, such as
/// a login, runs to its end within the grace.
public final class Drain: Sendable {
  private struct Waits {
    /// The time at which the drain has begun.
    var beginning: ContinuousClock.Instant?
    var last: UInt64 = 0
    /// The functions that end repeatable work in progress.
    var ends: [UInt64: @Sendable () -> Void] = [:]
    /// The number of tasks with repeatable work.
    var tasks = 0
    /// Resolved when no task is left.
    var settled: Promise<Void>?
  }

  private let waits = Mutex(Waits())
  private let begun = Atomic(false)

  /// The time from the beginning in which cancelled work may end before the daemon does.
  private static let patience = Duration.milliseconds(250)

  /// Creates a drain that has not begun.
  public init() {}

  /// Whether the drain has begun.
  public var hasBegun: Bool { begun.load(ordering: .acquiring) }

  /// Begins the drain, and ends all repeatable work in progress.
  public func begin() {
    begun.store(true, ordering: .releasing)
    let ends = waits.withLock { waits in
      waits.beginning = waits.beginning ?? .now
      defer { waits.ends = [:] }
      return Array(waits.ends.values)
    }
    for end in ends { end() }
  }

  /// Returns the rest of a period that begins with the drain; before the drain, the whole period.
  public func left(of time: Duration) -> Duration {
    guard let beginning = waits.withLock({ $0.beginning }) else { return time }
    return max(.zero, beginning + time - .now)
  }

  /// Throws `shuttingDown` once the drain has begun.
  func check() throws(SDKError) {
    if hasBegun { throw .shuttingDown }
  }

  /// Work in progress that the next daemon can do again.
  struct Repeatable<Value: Sendable>: Sendable {
    /// The result; `shuttingDown` as soon as the drain has begun.
    let outcome: Promise<Value>
    fileprivate let task: Task<Void, Never>
    fileprivate let number: UInt64?
  }

  /// Runs work that the next daemon can do again. When the drain begins, the work is cancelled and not waited for.
  ///
  /// - Throws: `shuttingDown` as soon as the drain has begun; the work's error.
  func repeatable<Value: Sendable>(
    _ body: @escaping @Sendable @concurrent () async throws -> Value
  ) async throws -> Value {
    let work = try start(body)
    defer { remove(work.number) }
    return try await withTaskCancellationHandler {
      try await work.outcome.valueIgnoringCancellation()
    } onCancel: {
      work.task.cancel()
    }
  }

  /// Starts work like `repeatable`. The caller calls `abandon` when it no longer waits.
  ///
  /// - Throws: `shuttingDown` once the drain has begun.
  func start<Value: Sendable>(
    _ body: @escaping @Sendable @concurrent () async throws -> Value
  ) throws(SDKError) -> Repeatable<Value> {
    try check()
    let outcome = Promise<Value>()
    waits.withLock { $0.tasks += 1 }
    let task = Task {
      defer { taskEnded() }
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.resolve(result)
    }
    let number = add {
      outcome.resolve(.failure(SDKError.shuttingDown))
      task.cancel()
    }
    return Repeatable(outcome: outcome, task: task, number: number)
  }

  /// Cancels work that nobody waits for any longer.
  func abandon<Value>(_ work: Repeatable<Value>) {
    remove(work.number)
    work.task.cancel()
  }

  /// Waits until the work that `begin` has cancelled has ended, up to a quarter of a second after the beginning.
  public func settle() async {
    let (settled, end) = waits.withLock { waits -> (Promise<Void>?, ContinuousClock.Instant) in
      if waits.tasks > 0, waits.settled == nil { waits.settled = Promise() }
      return (waits.settled, (waits.beginning ?? .now) + Self.patience)
    }
    guard let settled, end > .now else { return }
    try? await withTimeout(end - .now) { try await settled.value() }
  }

  private func taskEnded() {
    let settled = waits.withLock { waits -> Promise<Void>? in
      waits.tasks -= 1
      return waits.tasks == 0 ? waits.settled : nil
    }
    settled?.resolve(.success(()))
  }

  /// Adds a function that ends work. It is called at once if the drain has begun.
  private func add(_ end: @escaping @Sendable () -> Void) -> UInt64? {
    let number = waits.withLock { waits -> UInt64? in
      guard waits.beginning == nil else { return nil }
      waits.last += 1
      waits.ends[waits.last] = end
      return waits.last
    }
    if number == nil { end() }
    return number
  }

  private func remove(_ number: UInt64?) {
    guard let number else { return }
    waits.withLock { $0.ends[number] = nil }
  }
}

extension SDKError {
  /// The error of a call that was not run to its end, because the daemon stops. The next daemon can run it.
  static let shuttingDown = SDKError(
    .limit, .shuttingDown, "The daemon stopped before this call had ended. Connect again and send it again.")
}
