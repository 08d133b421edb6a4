import Dispatch
public import Linux
import Synchronization

/// A monitor that calls the health probes of all parts that could stall, once per period.
///
/// It has its own thread, so that it can report stalled parts even when nothing else runs.
public final class WatchdogMonitor: Sendable {
  /// A health probe of one part of the program. A part that is not stalled responds to it.
  public struct Probe: Sendable {
    /// The name of the part in messages.
    public let name: String
    /// Starts the probe. The part must call `answered` once, on any thread.
    public let ask: @Sendable (_ answered: @escaping @Sendable () -> Void) -> Void
    /// Whether a silence of this duration is expected and not a stall.
    public let excuse: @Sendable (Duration) -> Bool

    /// Creates a probe of a part. Without `excuse`, each silence counts as a stall.
    public init(
      _ name: String, excuse: @escaping @Sendable (Duration) -> Bool = { _ in false },
      ask: @escaping @Sendable (_ answered: @escaping @Sendable () -> Void) -> Void
    ) {
      self.name = name
      self.ask = ask
      self.excuse = excuse
    }
  }

  /// A function that is called after each round with the stalled parts and the durations of their silence. A part is
  /// stalled if it has not responded and its `excuse` does not accept the duration.
  ///
  /// An empty list means that all parts are healthy.
  public typealias Observer = @Sendable (_ silent: [(name: String, duration: Duration)]) -> Void

  private let probes: [Probe]
  private let period: Duration
  private let observer: Observer
  private let board: Mutex<WatchdogBoard>
  private let isStopped = Atomic(false)
  private let wakeup = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// Creates a monitor, which does nothing before `start()`.
  ///
  /// - Parameters:
  ///   - probes: the health probes to call in each round.
  ///   - period: the time that a part has for its response, and the time between two rounds.
  ///   - observer: called with the stalled parts after each round.
  public init(probes: [Probe], period: Duration, observer: @escaping Observer) {
    self.probes = probes
    self.period = period
    self.observer = observer
    board = Mutex(WatchdogBoard(count: probes.count))
  }

  /// Starts the monitor's thread.
  public func start() throws(SystemCallError) {
    try SystemThread.start(name: "sdkd-watchdog") { self.run() }
  }

  /// Ends the thread, which must have been started, and waits for its end. Pending probes may still respond.
  public func stop() {
    isStopped.store(true, ordering: .releasing)
    wakeup.signal()
    ended.wait()
  }

  private func run() {
    while !isStopped.load(ordering: .acquiring) {
      for (index, ticket) in board.withLock({ $0.ask(at: Self.now) }) {
        probes[index].ask { self.board.withLock { $0.answer(index, ticket) } }
      }
      if wakeup.wait(timeout: .now() + period / .seconds(1)) == .success { break }
      let silence = board.withLock { $0.silence(at: Self.now) }
      var silent: [(name: String, duration: Duration)] = []
      for (probe, duration) in zip(probes, silence) where duration > .zero && !probe.excuse(duration) {
        silent.append((probe.name, duration))
      }
      observer(silent)
    }
    ended.signal()
  }

  /// The zero point of `now`. The clock can't be set, and stops while the machine sleeps, because no part can respond
  /// then.
  private static let origin = SuspendingClock.now
  private static var now: Duration { origin.duration(to: .now) }
}
