import Concurrency
import Synchronization
import Testing

struct AsyncMutexTests {
  /// What the tasks of a test share.
  final class Shared: Sendable {
    let mutex = AsyncMutex()
    let inside = Mutex(0)
    let order = Mutex<[Int]>([])
  }

  @Test func `One task at a time has it`() async {
    let shared = Shared()
    await withDiscardingTaskGroup { group in
      for _ in 0..<1_000 {
        group.addTask {
          await shared.mutex.lock()
          defer { shared.mutex.unlock() }
          #expect(
            shared.inside.withLock {
              $0 += 1; return $0
            } == 1)
          await Task.yield()
          shared.inside.withLock { $0 -= 1 }
        }
      }
    }
    #expect(shared.inside.withLock { $0 } == 0)
  }

  @Test func `Tasks get it in the order in which they came, also cancelled ones`() async {
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
