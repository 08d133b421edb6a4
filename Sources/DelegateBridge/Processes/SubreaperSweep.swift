import CLinux
import Glibc
import Synchronization

/// A sweep that kills processes that providers left behind outside their process group, such as daemons that called
/// `setsid`.
///
/// The process becomes the subreaper of its descendants, so such leftovers become its children. A child that is older
/// than every run in progress belongs to none of them and is killed. So is a younger child whose environment names a
/// run that has ended. A younger child without that variable may be at work for a run, and is left for a later sweep. A
/// process that sweeps must start nothing but providers. The children that it had before `adoptOrphans` are left alone:
/// a shell that became the daemon by `exec` may have started them.
public struct SubreaperSweep: Sendable {
  let running: RunningProviders
  private(set) var table = ProcessTable()
}

extension SubreaperSweep {
  /// Creates the sweep of this process.
  public init() { self.init(running: .shared) }

  /// Makes the process the subreaper of its descendants.
  ///
  /// - Returns: false if the kernel refuses; leftovers then become children of the system's first process.
  @discardableResult
  public static func adoptOrphans() -> Bool {
    strangers.withLock { known in
      guard known == nil else { return }
      let table = ProcessTable()
      let others = table.children.filter { table.variable(RunningProviders.variable, of: $0.pid) == nil }
      known = Dictionary(others.map { ($0.pid, $0.start) }) { $1 }
    }
    return cl_set_child_subreaper() == 0
  }

  /// The start times, by pid, of the children that the process had before it started a provider. `nil` before
  /// `adoptOrphans`. A daemon that executes its program again keeps its children, also those that its providers left behind.
  private static let strangers = Mutex<[pid_t: UInt64]?>(nil)

  /// Whether a child is not a provider's and still runs.
  private static func isStranger(_ child: ProcessEntry) -> Bool {
    child.state != "Z" && strangers.withLock { $0?[child.pid] == child.start }
  }

  /// Kills and reaps children that no run in progress can have started, then the children that they leave behind in
  /// turn.
  ///
  /// - Returns: the number of processes that were reaped.
  @discardableResult
  public func sweep() async -> Int {
    var reaped = 0
    var pause = Duration.milliseconds(1)
    // The children of a leftover become ours only when it has died, hence the rounds. On a busy machine a killed
    // process takes a while to die. One that is stuck in the kernel for half a second is left for the next sweep.
    for _ in 0..<15 {
      let leftovers = self.leftovers
      if leftovers.isEmpty { return reaped }
      reaped += leftovers.count { end($0) }
      await Pause.uncancelled(pause)
      pause = min(pause * 2, .milliseconds(50))
    }
    return reaped
  }

  /// The children that no run in progress can have started.
  ///
  /// Looks at each child once, and reads the environment of those that are younger than the oldest run in progress.
  var leftovers: [ProcessEntry] {
    let children = table.children.filter { !Self.isStranger($0) }
    // Read after the listing: a run that began since then has no process in the list.
    guard let oldest = running.oldestStart else { return children }
    return children.filter { $0.start < oldest || running.isLeftover($0.pid, in: table) }
  }

  private func end(_ leftover: ProcessEntry) -> Bool {
    guard let process = AdoptedProcess(leftover) else { return false }
    process.kill()
    return process.reap()
  }
}
