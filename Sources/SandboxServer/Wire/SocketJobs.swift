/// The jobs of open WebSockets, which run in one task group.
struct SocketJobs: Sendable {
  typealias Job = @Sendable () async -> Void

  private let all: AsyncStream<Job>
  private let next: AsyncStream<Job>.Continuation

  init() {
    (all, next) = AsyncStream<Job>.makeStream()
  }

  /// Runs the submitted jobs. Returns when the server has stopped and all jobs have ended.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await job in all { group.addTask { await job() } }
    }
  }

  /// Submits a job to the server. Returns false if the server has stopped.
  func submit(_ job: @escaping Job) -> Bool {
    if case .enqueued = next.yield(job) { true } else { false }
  }

  func finish() { next.finish() }
}
