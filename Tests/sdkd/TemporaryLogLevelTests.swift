import Logging
import SDKInstances
import SDKProtocol
import Synchronization
import Testing

@testable import sdkd

/// `daemon.setLogLevel`, by a clock that the test advances.
final class TemporaryLogLevelTests {
  /// The time, the levels that the log was set to, and the lines that were written.
  private final class World: Sendable {
    private struct State {
      var now = Timestamp(secondsSince1970: 1_795_259_340)
      var level = Logger.Level.info
      var lines: [String] = []
    }

    private struct Handler: LogHandler {
      let world: World
      var metadata: Logger.Metadata = [:]
      var logLevel: Logger.Level {
        get { world.level }
        set {}
      }
      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }
      func log(event: LogEvent) { world.state.withLock { $0.lines.append("\(event.message)") } }
    }

    private let state = Mutex(State())

    var now: Timestamp { state.withLock { $0.now } }
    var level: Logger.Level { state.withLock { $0.level } }
    var lines: [String] { state.withLock { $0.lines } }
    var clock: WallClock { WallClock(now: { self.now }) }
    var logger: Logger { Logger(label: "test") { _ in Handler(world: self) } }

    func advance(_ seconds: Double) { state.withLock { $0.now = $0.now + seconds } }
    func apply(_ level: Logger.Level) { state.withLock { $0.level = level } }
  }

  /// A timer that never fires: the tests wake the deadlines themselves.
  private struct UnwatchedTimer: DeadlineTimer {
    func arm(at time: Timestamp?) {}
  }

  private let world = World()
  private let deadlines: Deadlines
  private let subject: TemporaryLogLevel

  init() {
    deadlines = Deadlines(clock: world.clock, timer: UnwatchedTimer())
    subject = TemporaryLogLevel(
      configured: .info, clock: world.clock, deadlines: deadlines, logger: world.logger
    ) { [world] in world.apply($0) }
  }

  private func advance(_ seconds: Double) {
    world.advance(seconds)
    deadlines.wake()
  }

  @Test("A level applies until its time has passed, by default for ten minutes")
  func time() {
    let set = subject.set(.init(level: .debug))
    #expect(set == JournalLevel(level: .debug, configured: .info, until: world.now + 600))
    #expect(world.level == .debug && subject.current == set)
    advance(599)
    #expect(world.level == .debug)
    advance(1)
    #expect(world.level == .info && subject.current == JournalLevel(level: .info, configured: .info))
    #expect(
      world.lines == [
        "The level of the journal is debug until \(set.until ?? world.now); after that it is info again.",
        "The level of the journal is info.",
      ])
  }

  @Test("A later call replaces the former one, with its level and time")
  func replacement() {
    _ = subject.set(.init(level: .debug, seconds: 10))
    _ = subject.set(.init(level: .trace, seconds: 100))
    advance(50)
    #expect(world.level == .trace)
    _ = subject.set(.init(level: .debug, seconds: 10))
    advance(10)
    #expect(world.level == .info)
    advance(100)
    #expect(world.level == .info && world.lines.count == 4)
  }

  @Test("A call without a level restores the configured one")
  func reset() {
    _ = subject.set(.init(level: .debug))
    #expect(subject.set(.init()) == JournalLevel(level: .info, configured: .info))
    #expect(world.level == .info)
    _ = subject.set(.init())
    advance(600)
    #expect(world.lines.count == 2, "what changes nothing is not reported")
  }

  @Test("A reload ends the level if it changes the configured one, and only then")
  func reload() {
    _ = subject.set(.init(level: .debug))
    subject.use(.info)
    #expect(world.level == .debug)
    subject.use(.warning)
    #expect(world.level == .warning && subject.current == JournalLevel(level: .warning, configured: .warning))
    advance(600)
    #expect(world.level == .warning)
  }

  @Test("A change to a level that hides notices is reported before it applies, and its end after that")
  func hiddenLevel() {
    _ = subject.set(.init(level: .error, seconds: 5))
    #expect(world.level == .error && world.lines.count == 1)
    advance(5)
    #expect(world.lines.count == 2)
  }

  @Test("The contract has the levels of the log, in their order")
  func names() {
    #expect(LogLevel.allCases.map(\.rawValue) == Logger.Level.allCases.map(\.rawValue))
    #expect(LogLevel.allCases.map(\.loggerLevel) == Logger.Level.allCases.sorted())
    #expect(Logger.Level.allCases.map { LogLevel($0) } == LogLevel.allCases)
  }
}
