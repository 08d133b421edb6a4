import Linux
import Logging
import NIOCore
import NIOPosix
import SDKInstances
import SDKProtocol
import StateStore
import Synchronization
import Systemd

/// A watchdog that sends keep-alives to the service manager while event loops, tasks, instances and the store respond
/// (sdkd(8)). A slow disk is not a stall: it shows in `daemon.health`.
final class DaemonWatch: Sendable {
  private let monitor: WatchdogMonitor
  private let stall: StoreStall
  private let socketFile: ControlSocketFile?

  /// Creates a watchdog, which `start` starts.
  ///
  /// - Parameters:
  ///   - interval: the time without keep-alive after which the manager ends the daemon.
  ///   - state: the state directory.
  init(
    interval: Duration, group: MultiThreadedEventLoopGroup, vendors: MultiThreadedEventLoopGroup,
    operations: Operations, registry: InstanceRegistry, events: EventHub, database: SQLiteStateStore?, state: String,
    socketFile: ControlSocketFile?, notifier: Notifier, logger: Logger
  ) {
    self.socketFile = socketFile
    let stall = StoreStall(interval: interval, disk: DiskCheck(state: state), logger: logger)
    self.stall = stall
    var probes = group.makeIterator().enumerated().map { number, loop in
      WatchdogMonitor.Probe("event loop \(number + 1)") { answered in loop.execute(answered) }
    }
    probes += vendors.makeIterator().enumerated().map { number, loop in
      WatchdogMonitor.Probe("vendor event loop \(number + 1)") { answered in loop.execute(answered) }
    }
    probes.append(WatchdogMonitor.Probe("task pool") { answered in operations.start { answered() } })
    let sample = InstanceSample(registry, events)
    probes.append(
      WatchdogMonitor.Probe("instances") { answered in
        operations.start {
          await sample.ask()
          answered()
        }
      })
    if let database {
      probes.append(
        WatchdogMonitor.Probe("store", excuse: { stall.excuses($0, longWork: database.longWork) }) { answered in
          database.answer {
            stall.end()
            answered()
          }
        })
    }
    let voice = WatchdogVoice(interval: interval, logger: logger)
    monitor = WatchdogMonitor(probes: probes, period: interval / 4) { silent in
      if silent.isEmpty { notifier.watchdog() }
      voice.hear(silent)
      socketFile?.look()
    }
  }

  func start() throws(SystemCallError) { try monitor.start() }

  /// Stops the watchdog. Call it before the parts that it probes are closed.
  func stop() { monitor.stop() }

  /// The checks for `daemon.health`; empty while the disk responds in time and the socket's file is there.
  var checks: [DaemonHealth.Check] { stall.checks + (socketFile?.checks ?? []) }

  /// Whether a reported stall of the state directory's disk still lasts.
  var isDiskStalled: Bool { !stall.checks.isEmpty }
}

/// A probe of the instances and their events. Each run probes up to 32 instances, in rotation.
private final class InstanceSample: Sendable {
  private let registry: InstanceRegistry
  private let events: EventHub
  private let last = Mutex<InstanceID?>(nil)
  private static let size = 32

  init(_ registry: InstanceRegistry, _ events: EventHub) {
    self.registry = registry
    self.events = events
  }

  func ask() async {
    let sample = last.withLock { last in
      let sample = registry.instances(after: last, atMost: Self.size)
      last = sample.next
      return sample.instances
    }
    for instance in sample { await instance.answer() }
    await events.answer()
  }
}

/// A log of stalls: one message when parts stop responding, and one when all respond again.
private final class WatchdogVoice: Sendable {
  private let interval: Duration
  private let logger: Logger
  private let hasSpoken = Mutex(false)

  init(interval: Duration, logger: Logger) {
    self.interval = interval
    self.logger = logger
  }

  func hear(_ silent: [(name: String, duration: Duration)]) {
    let longest = silent.map(\.duration).max() ?? .zero
    let change = hasSpoken.withLock { hasSpoken -> Bool? in
      if silent.isEmpty, hasSpoken {
        hasSpoken = false
        return false
      }
      // A short silence only means a busy machine.
      guard longest >= interval / 2, !hasSpoken else { return nil }
      hasSpoken = true
      return true
    }
    switch change {
    case nil: return
    case false?: logger.notice("All parts of the daemon answer again.")
    case true?:
      logger.critical(
        """
        No answer from \(silent.map(\.name).joined(separator: ", ")) for \(Int(longest / .seconds(1))) s: no keep-alive \
        is sent, and the service manager will restart the daemon unless that ends.
        """, metadata: ["messageID": "\(JournalMessage.watchdogSilent.id)"])
    }
  }
}
