import CLinux

/// Ends what providers left behind outside their process group: daemons that called `setsid`.
///
/// The process is made the subreaper of its descendants, so such leftovers become its children. A child that is older
/// than every run in progress belongs to none of them and is killed, and so is a younger one whose environment names a
/// run that has ended. One that doesn't tell may be at work for a run and is left for the sweep after that. Nothing but providers may be started by a process that sweeps.
public struct SubreaperSweep: Sendable {
  private let running: RunningProviders

  /// The sweep of this process.
  public init() { running = .shared }

  /// Makes the process the subreaper of its descendants.
  ///
  /// - Returns: false if the kernel refuses; leftovers then go to the system's first process.
  @discardableResult
  public static func adoptOrphans() -> Bool { cl_set_child_subreaper() == 0 }

  /// Kills and reaps what no run in progress can have started, and what that leaves behind in turn.
  ///
  /// - Returns: how many processes were reaped.
  @discardableResult
  public func sweep() async -> Int {
    var reaped = 0
    var pause = Duration.milliseconds(1)
    // What a leftover itself started becomes a child only when it has died, hence the rounds. Processes that are
    // stuck in the kernel are left for the next sweep.
    for _ in 0..<10 {
      let leftovers = self.leftovers
      if leftovers.isEmpty { return reaped }
      reaped += leftovers.count { end($0) }
      await Pause.uncancelled(pause)
      pause = min(pause * 2, .milliseconds(20))
    }
    return reaped
  }

  private var leftovers: [ProcessEntry] {
    let children = ProcessTable.children
    // Asked after the listing: a run that began since then has no process in the list.
    guard let oldest = running.oldestStart else { return children }
    return children.filter { $0.start < oldest || running.isLeftover($0.pid) }
  }

  private func end(_ leftover: ProcessEntry) -> Bool {
    guard let process = AdoptedProcess(leftover) else { return false }
    process.kill()
    return process.reap()
  }
}
