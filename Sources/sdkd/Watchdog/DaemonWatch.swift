import Logging
import NIOCore
import NIOPosix
import SDKInstances
import SDKProtocol
import StateStore
import Synchronization
import Systemd

/// Tells the service manager that the daemon lives, as long as event loops, tasks, instances and the store answer
/// (`operations.md`, "systemd"). A slow disk is no wedge: it shows in `daemon.health`.
final class DaemonWatch: Sendable {
  private let monitor: WatchdogMonitor
  private let stall: StoreStall
  private let socketFile: ControlSocketFile?

  /// Watches, once it is started.
  ///
  /// - Parameters:
  ///   - interval: after how long a silence the manager ends the daemon.
  ///   - state: the directory of the state.
  init(
    interval: Duration, group: MultiThreadedEventLoopGroup, vendors: MultiThreadedEventLoopGroup,
    operations: Operations, registry: InstanceRegistry, database: SQLiteStateStore?, state: String,
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
    let sample = InstanceSample(registry)
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

  /// Before what it asks is gone.
  func stop() { monitor.stop() }

  /// For `daemon.health`; nothing while the disk answers in time and the socket's file is there.
  var checks: [DaemonHealth.Check] { stall.checks + (socketFile?.checks ?? []) }
}

/// Some instances each time, all of them in turn.
private final class InstanceSample: Sendable {
  private let registry: InstanceRegistry
  private let next = Mutex(0)
  private static let size = 32

  init(_ registry: InstanceRegistry) { self.registry = registry }

  func ask() async {
    let instances = registry.instances
    let start = next.withLock { next in
      defer { next = next + Self.size < instances.count ? next + Self.size : 0 }
      return min(next, instances.count)
    }
    for instance in instances[start...].prefix(Self.size) { await instance.answer() }
    await registry.environment.events.answer()
  }
}

/// Says once who is silent, and once that all answer again.
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
      // A moment's silence is a busy machine.
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
