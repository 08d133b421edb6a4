import Glibc
import Linux
import Synchronization
import Testing

@testable import Concurrency

@Suite(.timeLimit(.minutes(1))) struct BlockingPoolTests {
  struct Failure: Error {}

  /// A count of the work in progress, and its maximum.
  final class Count: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func begin() {
      state.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
    }

    func end() { state.withLock { $0.now -= 1 } }
  }

  @Test func `Work returns its value or throws its error`() async throws {
    let pool = BlockingPool(name: "test", maximum: 2)
    #expect(try await pool.run { 7 } == 7)
    await #expect(throws: Failure.self) { try await pool.run { throw Failure() } }
  }

  @Test func `There are as many threads as work, up to the maximum`() async throws {
    let pool = BlockingPool(name: "test", maximum: 3)
    let count = Count()
    try await withThrowingTaskGroup { group in
      for _ in 0..<30 {
        group.addTask {
          try await pool.run {
            count.begin()
            // The first ones wait for each other, at most ten seconds.
            for _ in 0..<10_000 where count.most < 3 { usleep(1_000) }
            usleep(2_000)
            count.end()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(count.most == 3)
  }

  @Test func `Work that hangs occupies one thread, and the other thread does the rest in order`() async throws {
    let pool = BlockingPool(name: "test", maximum: 2)
    let gate = try await hang(pool)
    let order = Mutex<[Int]>([])
    for number in 0..<20 { pool.submit { _ in order.withLock { $0.append(number) } } }
    try await pool.run {}
    #expect(order.withLock { $0 } == Array(0..<20))
    gate.resolve(.success(()))
  }

  @Test func `Without any thread the work gets the error, and later work gets a thread again`() async throws {
    let isFull = Mutex(true)
    let pool = BlockingPool(maximum: 2) { body throws(SystemCallError) in
      if isFull.withLock({ $0 }) { throw SystemCallError("start a thread", EAGAIN) }
      try SystemThread.start(name: "test", body: body)
    }
    await #expect(throws: SystemCallError("start a thread", EAGAIN)) { try await pool.run { 7 } }
    isFull.withLock { $0 = false }
    #expect(try await pool.run { 7 } == 7)
  }

  @Test func `Without another thread the work waits for the one that there is`() async throws {
    let started = Mutex(0)
    let pool = BlockingPool(maximum: 2) { body throws(SystemCallError) in
      let isFirst = started.withLock {
        $0 += 1
        return $0 == 1
      }
      guard isFirst else { throw SystemCallError("start a thread", EAGAIN) }
      try SystemThread.start(name: "test", body: body)
    }
    let gate = try await hang(pool)
    let value = Promise<Int>()
    pool.submit { refused in value.resolve(refused.map { .failure($0) } ?? .success(7)) }
    #expect(started.withLock { $0 } == 2)
    #expect(value.result == nil)
    gate.resolve(.success(()))
    #expect(try await value.value() == 7)
  }

  /// Occupies a thread until the returned promise is resolved.
  private func hang(_ pool: BlockingPool) async throws -> Promise<Void> {
    let began = Promise<Void>()
    let gate = Promise<Void>()
    pool.submit { _ in
      began.resolve(.success(()))
      while gate.result == nil { usleep(1_000) }
    }
    try await began.value()
    return gate
  }

  @Test func `A pool without work has no threads`() async throws {
    let pool = BlockingPool(name: "test-idle", maximum: 2)
    try await pool.run {}
    while try Self.threads(named: "test-idle") > 0 { try await Task.sleep(for: .milliseconds(1)) }
  }

  private static func threads(named name: String) throws -> Int {
    var count = 0
    guard let folder = opendir("/proc/self/task") else { throw Failure() }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let thread = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard let file = fopen("/proc/self/task/\(thread)/comm", "re") else { continue }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 32)
      guard fgets(&line, 32, file) != nil else { continue }
      let text = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      if String(decoding: text, as: UTF8.self) == name { count += 1 }
    }
    return count
  }
}
