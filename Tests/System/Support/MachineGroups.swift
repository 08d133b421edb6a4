import Foundation

/// The control groups of one machine. If machines that run at the same time shared groups, the manager of one could
/// enter, empty and remove the units of the other.
struct MachineGroups: Sendable {
  private let folders: [String]

  /// - Parameter name: the name of the machine.
  init(name: String) {
    // The unified hierarchy, or the hybrid layout with the hierarchies `unified` and `systemd`.
    folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"]
      .filter { FileManager.default.fileExists(atPath: "\($0)/cgroup.procs") }.map { "\($0)/\(name)" }
  }

  /// Returns the arguments of a shell that enters the groups and then executes the command.
  func entering(_ command: [String]) -> [String] {
    let enter = folders.map { "mkdir '\($0)'; echo $$ > '\($0)/cgroup.procs'" }
    return ["-euc", (enter + ["exec \"$@\""]).joined(separator: "; "), "sh"] + command
  }

  /// Removes the groups after the machine has ended. Retries for 2 s per group, since its processes may end late.
  func remove() {
    for folder in folders {
      for _ in 0..<200 where !Self.isRemoved(folder) { usleep(10_000) }
    }
  }

  private static func isRemoved(_ folder: String) -> Bool {
    let inner = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix("/cgroup.procs") }
    // Remove the deepest groups first: a group with subgroups cannot be removed.
    for file in inner.sorted(by: { $0.utf8.count > $1.utf8.count }) { rmdir("\(folder)/\(file.dropLast(13))") }
    return rmdir(folder) == 0 || errno == ENOENT
  }
}
