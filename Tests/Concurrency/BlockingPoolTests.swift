import Concurrency
import Glibc
import Synchronization
import Testing

struct BlockingPoolTests {
  struct Failure: Error {}

  /// How much work is done at the same time.
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
            usleep(5_000)
            count.end()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(count.most == 3)
  }

  @Test func `Work that hangs occupies one thread, and one thread works in order`() async throws {
    let pool = BlockingPool(name: "test", maximum: 2)
    let hanging = Promise<Void>()
    let gate = Mutex(false)
    let open = Promise<Void>()
    pool.submit { _ in
      hanging.resolve(.success(()))
      while !gate.withLock({ $0 }) { usleep(1_000) }
      open.resolve(.success(()))
    }
    try await hanging.value()
    let order = Mutex<[Int]>([])
    for number in 0..<20 { pool.submit { _ in order.withLock { $0.append(number) } } }
    try await pool.run {}
    #expect(order.withLock { $0 } == Array(0..<20))
    gate.withLock { $0 = true }
    try await open.value()
  }

  @Test func `A pool without work has no threads`() async throws {
    let pool = BlockingPool(name: "test-idle", maximum: 2)
    try await pool.run {}
    while try Self.threads(named: "test-idle") > 0 { try await Task.sleep(for: .milliseconds(1)) }
  }

  static func threads(named name: String) throws -> Int {
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
