import Dispatch

/// Runs asynchronous work to its end on the calling thread's time.
func blocking(_ body: @escaping @Sendable () async -> Void) {
  let ended = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    ended.signal()
  }
  ended.wait()
}
