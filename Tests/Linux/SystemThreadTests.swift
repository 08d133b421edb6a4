import Concurrency
import Glibc
import Linux
import Testing

@Suite(.timeLimit(.minutes(1))) struct SystemThreadTests {
  /// Returns the signals that the calling thread blocks, of SIGTERM, SIGPIPE and SIGUSR1.
  private static func blockedSignals() -> [Int32] {
    var set = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &set)
    return [SIGTERM, SIGPIPE, SIGUSR1].filter { sigismember(&set, $0) == 1 }
  }

  private static func ownName() -> String? {
    guard let file = fopen("/proc/thread-self/comm", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 32)
    guard fgets(&line, 32, file) != nil else { return nil }
    return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test func `A thread has its name and receives no signals, and its starter's signals stay as they were`() async throws
  {
    let before = Self.blockedSignals()
    let seen = Promise<(name: String?, blocked: [Int32])>()
    try SystemThread.start(name: "fifteen-letters", stackSize: 256 << 10) {
      seen.resolve(.success((Self.ownName(), Self.blockedSignals())))
    }
    #expect(Self.blockedSignals() == before)
    let (name, blocked) = try await seen.value()
    #expect(name == "fifteen-letters")
    #expect(blocked == [SIGTERM, SIGPIPE, SIGUSR1])
  }

  @Test func `A thread that can't be started throws, and its body is released without a call`() throws {
    final class Witness: Sendable {}
    weak var witness: Witness?
    func start() {
      let held = Witness()
      witness = held
      #expect(throws: SystemCallError("start thread large", EAGAIN)) {
        try SystemThread.start(name: "large", stackSize: 1 << 62) {
          Issue.record("called")
          withExtendedLifetime(held) {}
        }
      }
    }
    start()
    #expect(witness == nil)
  }

  @Test func `An error has a positive number and the system's text`() {
    #expect(SystemCallError("open x", -ENOENT) == SystemCallError("open x", ENOENT))
    #expect(SystemCallError("open x", ENOENT).description == "open x: No such file or directory")
    #expect(SystemCallError("open x", .min).description.hasPrefix("open x: "))
  }
}
