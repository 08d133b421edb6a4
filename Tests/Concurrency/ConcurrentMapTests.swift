import Concurrency
import Synchronization
import Testing

struct ConcurrentMapTests {
  @Test(arguments: [0, 1, 7, 8, 9, 100]) func `The results have the order of the elements`(count: Int) async {
    let results = await (0..<count).concurrentMap(atMost: 8) { number in
      // Later elements end first.
      for _ in 0..<(count - number) { await Task.yield() }
      return "\(number)"
    }
    #expect(results == (0..<count).map { "\($0)" })
  }

  @Test func `No more works are in progress than the limit allows`() async {
    let progress = Mutex((now: 0, most: 0))
    _ = await (0..<100).concurrentMap(atMost: 8) { _ in
      progress.withLock { progress in
        progress.now += 1
        progress.most = max(progress.most, progress.now)
      }
      await Task.yield()
      progress.withLock { $0.now -= 1 }
    }
    #expect(progress.withLock { $0.most <= 8 && $0.now == 0 })
  }
}
