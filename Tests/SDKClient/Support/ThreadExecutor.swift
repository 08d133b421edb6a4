import Dispatch

/// Runs tasks on a thread that is nobody else's, so that they may block it.
final class ThreadExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "sdkd.test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
