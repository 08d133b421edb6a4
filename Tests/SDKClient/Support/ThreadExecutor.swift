import Dispatch

/// An executor that runs tasks outside the shared thread pool, so that they may block.
final class ThreadExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "sdkd.test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
