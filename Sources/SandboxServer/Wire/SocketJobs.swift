/// A queue of the jobs of open WebSockets, which the server runs in its task group.
struct SocketJobs: Sendable {
  typealias Job = @Sendable () async -> Void

  /// The submitted jobs. The stream ends when the server stops.
  let all: AsyncStream<Job>
  private let next: AsyncStream<Job>.Continuation

  init() {
    (all, next) = AsyncStream<Job>.makeStream()
  }

  /// Submits a job to the server. Returns false if the server has stopped.
  func submit(_ job: @escaping Job) -> Bool {
    if case .enqueued = next.yield(job) { true } else { false }
  }

  func finish() { next.finish() }
}
