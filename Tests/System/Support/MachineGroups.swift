import Foundation

/// Control groups of a machine's own. Without them all machines that run at a time would share theirs, and the unit of one
/// be entered, emptied and removed by the other's manager.
struct MachineGroups: Sendable {
  private let folders: [String]

  /// - Parameter name: the machine's.
  init(name: String) {
    // One hierarchy, or those that stand beside the old ones.
    folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"]
      .filter { FileManager.default.fileExists(atPath: "\($0)/cgroup.procs") }.map { "\($0)/\(name)" }
  }

  /// The arguments of a shell that enters the groups and becomes the command.
  func entering(_ command: [String]) -> [String] {
    let enter = folders.map { "mkdir '\($0)'; echo $$ > '\($0)/cgroup.procs'" }
    return ["-euc", (enter + ["exec \"$@\""]).joined(separator: "; "), "sh"] + command
  }

  /// Removes them when the machine has ended; its processes may take a moment to be gone.
  func remove() {
    for folder in folders {
      for _ in 0..<200 where !Self.isRemoved(folder) { usleep(10_000) }
    }
  }

  private static func isRemoved(_ folder: String) -> Bool {
    let inner = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix("/cgroup.procs") }
    // The deepest first.
    for file in inner.sorted(by: { $0.utf8.count > $1.utf8.count }) { rmdir("\(folder)/\(file.dropLast(13))") }
    return rmdir(folder) == 0 || errno == ENOENT
  }
}
