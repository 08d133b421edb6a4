import Glibc
import Synchronization

/// When the runs in progress began, so that a sweep can tell what no run of today can have started.
///
/// One for the process, as its children are: two bridges in one process must not sweep each other's providers.
final class RunningProviders: Sendable {
  /// The process's own.
  static let shared = RunningProviders()

  private struct State: Sendable {
    var lastID = 0
    var starts: [Int: UInt64] = [:]
  }

  private let state = Mutex(State())

  /// A run is about to begin; to be called before its process exists.
  func begin() -> Int {
    let now = Self.ticksSinceBoot
    return state.withLock { state in
      state.lastID += 1
      state.starts[state.lastID] = now
      return state.lastID
    }
  }

  /// The variable that tells of a process which run started it, or an ancestor of it.
  static let variable = "SDKD_RUN"

  /// The variable's value for a run.
  func tag(of id: Int) -> String { "\(Self.prefix)\(id)" }

  /// Whether a process was started by a run of this process that has ended. One that hides whose it is, is none.
  func isLeftover(_ pid: pid_t) -> Bool {
    guard let tag = ProcessTable.variable(Self.variable, of: pid), tag.hasPrefix(Self.prefix),
      let id = Int(tag.dropFirst(Self.prefix.count))
    else { return false }
    return state.withLock { $0.starts[id] == nil && id <= $0.lastID }
  }

  private static let prefix = "\(getpid())-\(ticksSinceBoot)-"

  /// The run and its group are gone.
  func end(_ id: Int) { state.withLock { $0.starts[id] = nil } }

  /// The beginning of the oldest run in progress, in ticks since the machine's start; `nil` without runs.
  var oldestStart: UInt64? { state.withLock { $0.starts.values.min() } }

  /// Now, in the unit and on the clock of the start times in `/proc/PID/stat`.
  private static var ticksSinceBoot: UInt64 {
    let boottime: clockid_t = 7
    var now = timespec()
    guard clock_gettime(boottime, &now) == 0 else { return 0 }
    let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return UInt64(now.tv_sec) * perSecond + UInt64(now.tv_nsec) * perSecond / 1_000_000_000
  }
}
