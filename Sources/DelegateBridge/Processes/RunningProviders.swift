import CLinux
import Glibc
import Synchronization

/// The start times of the runs in progress. A sweep uses them to find processes that no run in progress can have
/// started.
///
/// One instance per process, like its children: two bridges in one process must not sweep each other's providers.
final class RunningProviders: Sendable {
  /// The only instance in this process.
  static let shared = RunningProviders()

  private struct Runs: Sendable {
    var lastID = 0
    var starts: [Int: UInt64] = [:]
  }

  private let state = Mutex(Runs())

  /// A descriptor that is readable once the daemon stops; negative without one.
  let stop = cl_eventfd_create()

  /// The time between SIGTERM and SIGKILL when the daemon stops.
  static let stopGrace = Duration.milliseconds(100)

  /// Ends all runs of commands, those in progress and later ones, because the daemon stops. Runs of units that are
  /// cancelled no longer wait for their programs.
  func endAll() { _ = withUnsafeBytes(of: UInt64(1)) { write(stop, $0.baseAddress, $0.count) } }

  /// Waits until all runs have ended, at most two seconds. After `endAll` that takes longer only if the kernel can't end
  /// a process.
  func settle() async {
    let end = ContinuousClock.now + .seconds(2)
    while oldestStart != nil, .now < end { await Pause.uncancelled(.milliseconds(5)) }
  }

  /// Registers a run and returns its number. Call it before the run's process exists.
  func begin() -> Int {
    let now = Self.ticksSinceBoot
    return state.withLock { state in
      state.lastID += 1
      state.starts[state.lastID] = now
      return state.lastID
    }
  }

  /// The environment variable that identifies the run to which a process belongs. The processes that a provider starts
  /// inherit it.
  static let variable = "SDKD_RUN"

  /// Returns the value of the environment variable `variable` for a run.
  func tag(of id: Int) -> String { "\(Self.prefix)\(id)" }

  /// Returns whether a process was started by a run of this process that has ended. False for a process whose
  /// environment doesn't show its run.
  func isLeftover(_ pid: pid_t, in table: ProcessTable) -> Bool {
    guard let tag = table.variable(Self.variable, of: pid), tag.hasPrefix(Self.prefix),
      let id = Int(tag.dropFirst(Self.prefix.count))
    else { return false }
    return state.withLock { $0.starts[id] == nil && id <= $0.lastID }
  }

  private static let prefix = "\(getpid())-\(ticksSinceBoot)-"

  /// Removes a run. Call it after the run's process group has ended.
  func end(_ id: Int) { state.withLock { $0.starts[id] = nil } }

  /// The start of the oldest run in progress, in clock ticks since boot; `nil` without runs.
  var oldestStart: UInt64? { state.withLock { $0.starts.values.min() } }

  /// The current time, in the unit and on the clock of the start times in `/proc/PID/stat`.
  private static var ticksSinceBoot: UInt64 {
    let boottime: clockid_t = 7
    var now = timespec()
    guard clock_gettime(boottime, &now) == 0 else { return 0 }
    let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return UInt64(now.tv_sec) * perSecond + UInt64(now.tv_nsec) * perSecond / 1_000_000_000
  }
}
