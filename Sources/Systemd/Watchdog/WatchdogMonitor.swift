import Dispatch
import Synchronization

/// Asks all parts that could be wedged, again and again, and calls for a keep-alive only when none is silent.
///
/// It has a thread of its own, so that it can say who is silent when nothing else runs any more.
public final class WatchdogMonitor: Sendable {
  /// A part that answers when it is not wedged.
  public struct Probe: Sendable {
    /// What it is called in messages.
    public let name: String
    /// Asks it; what is passed is called once, on any thread.
    public let ask: @Sendable (_ answered: @escaping @Sendable () -> Void) -> Void
    /// Whether its silence of so long is no wedge.
    public let excuse: @Sendable (Duration) -> Bool

    /// A part; without an excuse it has to answer each time.
    public init(
      _ name: String, excuse: @escaping @Sendable (Duration) -> Bool = { _ in false },
      ask: @escaping @Sendable (_ answered: @escaping @Sendable () -> Void) -> Void
    ) {
      self.name = name
      self.ask = ask
      self.excuse = excuse
    }
  }

  /// Hears of each round: the parts whose silence has no excuse, with how long it lasts. None: all is well.
  public typealias Observer = @Sendable (_ silent: [(name: String, duration: Duration)]) -> Void

  private let probes: [Probe]
  private let period: Duration
  private let observer: Observer
  private let board: Mutex<WatchdogBoard>
  private let isStopped = Atomic(false)
  private let wakeup = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter period: how long a part has for its answer, and the time between two rounds.
  public init(probes: [Probe], period: Duration, observer: @escaping Observer) {
    self.probes = probes
    self.period = period
    self.observer = observer
    board = Mutex(WatchdogBoard(count: probes.count))
  }

  /// Starts the thread.
  public func start() throws(SystemCallError) {
    try SystemThread.start(name: "sdkd-watchdog") { self.run() }
  }

  /// Ends the thread, which was started, and waits for its end. Questions on their way are still answered.
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

  /// Not the wall clock; it stands still while the machine sleeps, as the parts do.
  private static let origin = SuspendingClock.now
  private static var now: Duration { origin.duration(to: .now) }
}
