public import Concurrency
import Synchronization

/// A service that runs work that outlives its callers, such as logins at the vendor, renewals and event replays.
///
/// It has no bound of its own, since no work may be refused: each is started as it comes. What starts work has a bound.
/// Calls count within the limits of their connection and user, an instance has one work of each kind in progress and one
/// deadline, and deliveries and subscriptions have limits in `[limits]`.
public final class Operations: Sendable {
  /// The beginning of the daemon's stop. It decides which waits for vendors, providers and delegates end then.
  public let drain = Drain()

  public typealias Work = TaskSet.Work

  private let stream: AsyncStream<Work>
  private let continuation: AsyncStream<Work>.Continuation
  private let backgroundStream: AsyncStream<Work>
  private let background: AsyncStream<Work>.Continuation
  private let dueStream: AsyncStream<Work>
  private let due: AsyncStream<Work>.Continuation

  private struct Progress {
    /// The number of works of `start` that have not ended.
    var unfinished = 0
    var isFinishing = false
    /// Whether there has been a rush since there was no work.
    var isRushing = false
    /// Whether no further work can come: only work in progress may start more.
    var isOver: Bool { isFinishing && unfinished == 0 }
  }
  private let progress = Mutex(Progress())

  /// The maximum number of works of `startDue` in progress: as many as the changes of one transaction.
  static let dueLimit = 256

  /// The number of works of `start` at the same time from which they are a rush, such as many renewals.
  static let rush = 8

  /// Called when a rush begins and when it ends. Calls from several threads may come in another order, so the observer
  /// must read `isRushing`.
  private let onRush: @Sendable (Operations) -> Void

  /// Whether there is a rush: it begins with `rush` works at the same time and lasts until there is none.
  public var isRushing: Bool { progress.withLock { $0.isRushing } }

  /// Creates a service that is not running yet. Work waits until `run`.
  public init(onRush: @escaping @Sendable (Operations) -> Void = { _ in }) {
    self.onRush = onRush
    (stream, continuation) = AsyncStream.makeStream()
    (backgroundStream, background) = AsyncStream.makeStream()
    (dueStream, due) = AsyncStream.makeStream()
  }

  /// Starts work that runs to its end even if the caller goes away. After `finish`, work in progress may start more,
  /// such as the undoing of a late login.
  public func start(_ work: @escaping Work) {
    change { $0.unfinished += 1 }
    let start = continuation.yield {
      await work()
      self.change { $0.unfinished -= 1 }
    }
    if case .terminated = start { change { $0.unfinished -= 1 } }
  }

  private func change(_ body: (inout Progress) -> Void) {
    let (isOver, isOtherRush) = progress.withLock { progress in
      let wasRushing = progress.isRushing
      body(&progress)
      progress.isRushing = progress.unfinished >= (wasRushing ? 1 : Self.rush)
      return (progress.isOver, progress.isRushing != wasRushing)
    }
    if isOtherRush { onRush(self) }
    if isOver { continuation.finish() }
  }

  /// Starts work that is cancelled once `finish` was called and the work of `start` has ended, such as a connection or
  /// the retry of a delivery.
  public func startBackground(_ work: @escaping Work) { background.yield(work) }

  /// Starts work that waits for nothing but the store, and for which no caller waits. At most `dueLimit` such works are
  /// in progress, so that callers wait behind few changes when the deadlines of all instances pass at once.
  public func startDue(_ work: @escaping Work) { due.yield(work) }

  /// Runs the started work until `finish`, and then until all of it has ended. Cancelling this task cancels the work.
  public func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [backgroundStream] in await TaskSet().run(backgroundStream) }
      async let due: Void = Self.run(dueStream, atMost: Self.dueLimit)
      await TaskSet().run(stream)
      await due
      group.cancelAll()
    }
  }

  private static func run(_ stream: AsyncStream<Work>, atMost limit: Int) async {
    await withTaskGroup(of: Void.self) { group in
      var started = 0
      for await work in stream {
        if started >= limit { await group.next() }
        started += 1
        group.addTask { await work() }
      }
      if Task.isCancelled { group.cancelAll() }
    }
  }

  /// Stops accepting work, except that of work in progress. `run` then returns when all of it has ended.
  public func finish() {
    change { $0.isFinishing = true }
    background.finish()
    due.finish()
  }
}

/// The demand for a result. Work for it is cancelled when the demand ends.
final class Need: Sendable {
  private let over = Promise<Void>()

  /// Ends the demand.
  func end() { over.resolve(.success(())) }

  /// Runs the work and returns its result. The work is cancelled when the demand ends; whatever it then returns is the
  /// result.
  func run<T: Sendable>(_ work: @escaping @Sendable @concurrent () async -> T) async -> T? {
    await withTaskGroup(of: T?.self) { group in
      group.addTask { await work() }
      group.addTask { [over] in
        _ = try? await over.value()
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      if let first { return first }
      return await group.next() ?? nil
    }
  }
}
