import Concurrency
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct AsyncMutexTests {
  /// The state that the tasks of a test share.
  final class Shared: Sendable {
    let mutex = AsyncMutex()
    let inside = Mutex(0)
    let order = Mutex<[Int]>([])
  }

  @Test func `Only one task at a time holds the mutex`() async {
    let shared = Shared()
    await withDiscardingTaskGroup { group in
      for _ in 0..<1_000 {
        group.addTask {
          await shared.mutex.lock()
          defer { shared.mutex.unlock() }
          #expect(shared.inside.withLock { $0 } == 0)
          shared.inside.withLock { $0 += 1 }
          await Task.yield()
          shared.inside.withLock { $0 -= 1 }
        }
      }
    }
    #expect(shared.inside.withLock { $0 } == 0)
  }

  @Test func `Waiting tasks get the mutex in the order of their arrival, also cancelled ones`() async {
    let shared = Shared()
    await shared.mutex.lock()
    var tasks: [Task<Void, Never>] = []
    for number in 0..<10 {
      let (began, begin) = AsyncStream<Never>.makeStream()
      tasks.append(
        Task { @MainActor in
          begin.finish()
          await shared.mutex.lock()
          shared.order.withLock { $0.append(number) }
          shared.mutex.unlock()
        })
      for await _ in began {}
      // The main actor is free again once the task waits for the mutex.
      await MainActor.run {}
    }
    tasks[3].cancel()
    shared.mutex.unlock()
    for task in tasks { await task.value }
    #expect(shared.order.withLock { $0 } == Array(0..<10))
  }
}
