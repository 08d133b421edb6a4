import Concurrency
import Synchronization
import Testing

struct TaskSetTests {
  @Test("The run of a stream returns when the stream and all its works have ended")
  func run() async {
    let (stream, works) = AsyncStream<TaskSet.Work>.makeStream()
    let gate = Promise<Void>()
    let ended = Atomic<Int>(0)
    for _ in 0..<100 {
      works.yield {
        _ = try? await gate.value()
        ended.add(1, ordering: .relaxed)
      }
    }
    works.yield {}
    works.finish()
    async let run: Void = TaskSet().run(stream)
    gate.resolve(.success(()))
    await run
    #expect(ended.load(ordering: .relaxed) == 100)
  }

  @Test("Cancelling the run cancels the works in progress, and those that start later")
  func cancellation() async {
    let (stream, works) = AsyncStream<TaskSet.Work>.makeStream()
    let tasks = TaskSet()
    let started = Promise<Void>()
    let isCancelled = Mutex<[Bool]>([])
    let never = Promise<Void>()
    works.yield {
      started.resolve(.success(()))
      _ = try? await never.value()
      isCancelled.withLock { $0.append(Task.isCancelled) }
    }
    let run = Task { await tasks.run(stream) }
    _ = try? await started.value()
    run.cancel()
    await run.value
    tasks.start { isCancelled.withLock { $0.append(Task.isCancelled) } }
    await tasks.ended()
    #expect(isCancelled.withLock { $0 } == [true, true])
  }

  @Test("An empty set has ended")
  func empty() async {
    let tasks = TaskSet()
    await tasks.ended()
    for _ in 0..<3 {
      tasks.start {}
      await tasks.ended()
    }
  }
}
