import Foundation
import Glibc

/// A control group of a test, as systemd would make one for a unit. libsystemd derives a process's unit from its group.
final class ControlGroup {
  let path: String

  /// The root of the hierarchy that libsystemd reads; `nil` when the test may not make groups in it.
  static let root: String? = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first { root in
    guard getuid() == 0, access("\(root)/cgroup.procs", W_OK) == 0 else { return false }
    let probe = "\(root)/sdkd-probe-\(UUID().uuidString)"
    guard mkdir(probe, 0o755) == 0 else { return false }
    rmdir(probe)
    return access("\(root)/cgroup.controllers", R_OK) == 0
  }

  /// Makes a group such as `system.slice/kiosk.service`, and its parents.
  init(_ unit: String) throws {
    guard let root = Self.root else { throw Program.Failure(description: "no control groups can be made here") }
    let parts = unit.split(separator: "/")
    path = "\(root)/\(unit)"
    for _ in 0..<100 {
      for count in 1...parts.count { mkdir("\(root)/\(parts.prefix(count).joined(separator: "/"))", 0o755) }
      // Another test may just have removed a parent.
      if access("\(path)/cgroup.procs", W_OK) == 0 { return }
    }
    throw Program.Failure(description: "\(path) can't be made")
  }

  /// Removes the group and its parents. Parents that another test still uses stay.
  deinit {
    var path = path
    for _ in 0..<100 where rmdir(path) != 0 && errno == EBUSY { usleep(10_000) }
    repeat {
      path = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    } while path != Self.root && rmdir(path) == 0
  }
}
