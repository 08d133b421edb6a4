/// The work of open WebSockets, on its way to the task group that the server runs it in.
struct SocketJobs: Sendable {
  typealias Job = @Sendable () async -> Void

  /// What is to be run, until the server stops.
  let all: AsyncStream<Job>
  private let next: AsyncStream<Job>.Continuation

  init() {
    (all, next) = AsyncStream<Job>.makeStream()
  }

  /// Has the server run a job; false when it has stopped.
  func submit(_ job: @escaping Job) -> Bool {
    if case .enqueued = next.yield(job) { true } else { false }
  }

  func finish() { next.finish() }
}
