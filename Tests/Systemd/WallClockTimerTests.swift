import CLinux
import Glibc
import Systemd
import Testing

@Suite(.timeLimit(.minutes(1))) struct WallClockTimerTests {
  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Sets the clock to its current time, which the kernel reports like any other change. Returns whether that
  /// succeeded.
  private static func setClock() -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return clock_settime(CLOCK_REALTIME, &time) == 0
  }

  private func timer() throws -> (WallClockTimer, AsyncStream<WallClockTimer.Wake>) {
    let (stream, continuation) = AsyncStream.makeStream(of: WallClockTimer.Wake.self)
    let timer = try WallClockTimer()
    try timer.start { continuation.yield($0) }
    return (timer, stream)
  }

  private func next(_ stream: AsyncStream<WallClockTimer.Wake>) async -> WallClockTimer.Wake? {
    await stream.first { _ in true }
  }

  /// Returns the next deadline. Other wakes are skipped, since another test may set the clock meanwhile.
  private func nextDeadline(_ stream: AsyncStream<WallClockTimer.Wake>) async -> WallClockTimer.Wake? {
    await stream.first { $0 == .deadline }
  }

  @Test func firesAtTheTimeAndNotBefore() async throws {
    let (timer, wakes) = try timer()
    let deadline = Self.now() + 0.05
    timer.arm(secondsSince1970: deadline)
    #expect(await nextDeadline(wakes) == .deadline)
    #expect(Self.now() >= deadline - 0.000_001)
    timer.cancel()
  }

  @Test(arguments: [0, -1, 1, -Double.infinity, 1_000_000_000.5]) func firesAtOnceIfPast(time: Double) async throws {
    let (timer, wakes) = try timer()
    timer.arm(secondsSince1970: time)
    #expect(await nextDeadline(wakes) == .deadline)
    timer.cancel()
  }

  @Test(arguments: [nil, Double.nan, Double.infinity, 1e300]) func waitsForTheLatestDeadline(other: Double?)
    async throws
  {
    let (timer, wakes) = try timer()
    timer.arm(secondsSince1970: Self.now() + 3600)
    timer.arm(secondsSince1970: other)
    timer.arm(secondsSince1970: Self.now() + 0.01)
    #expect(await nextDeadline(wakes) == .deadline)
    timer.cancel()
  }

  @Test func canBeArmedAgainFromTheCallback() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: WallClockTimer.Wake.self)
    let timer = try WallClockTimer()
    try timer.start { [weak timer] wake in
      timer?.arm(secondsSince1970: 1)
      continuation.yield(wake)
    }
    timer.arm(secondsSince1970: 1)
    var count = 0
    for await wake in stream where wake == .deadline {
      count += 1
      if count == 3 { break }
    }
    #expect(count == 3)
    timer.cancel()
  }

  @Test("What a timer was armed for before its start is reported after it")
  func isArmedBeforeItsStart() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: WallClockTimer.Wake.self)
    let timer = try WallClockTimer()
    timer.arm(secondsSince1970: 1)
    try timer.start { continuation.yield($0) }
    #expect(await nextDeadline(stream) == .deadline)
    timer.cancel()
  }

  @Test(.enabled(if: setClock(), "needs the right to set the clock")) func reportsASetClock() async throws {
    let (timer, wakes) = try timer()
    // The change is reported without an armed deadline.
    #expect(Self.setClock())
    #expect(await next(wakes) == .clockWasSet)
    // An armed deadline stays armed after the change.
    timer.arm(secondsSince1970: Self.now() + 0.2)
    #expect(Self.setClock())
    #expect(await nextDeadline(wakes) == .deadline)
    timer.cancel()
  }

  @Test func endsWithItsOwner() throws {
    for _ in 0..<50 { try WallClockTimer().start { _ in } }
    let timer = try WallClockTimer()
    try timer.start { _ in }
    timer.cancel()
    timer.cancel()
    timer.arm(secondsSince1970: 0)
  }
}
