import Foundation
import Glibc

/// A control group of a test, as systemd would make one for a unit: libsystemd tells a process's unit by where it is.
final class ControlGroup {
  let path: String

  /// Where the hierarchy is that libsystemd looks at; `nil` when we may not make groups in it.
  static let root: String? = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first { root in
    guard getuid() == 0, access("\(root)/cgroup.procs", W_OK) == 0 else { return false }
    let probe = "\(root)/sdkd-probe-\(UUID().uuidString)"
    guard mkdir(probe, 0o755) == 0 else { return false }
    rmdir(probe)
    return access("\(root)/cgroup.controllers", R_OK) == 0
  }

  /// A group such as `system.slice/kiosk.service`.
  init(_ unit: String) throws {
    guard let root = Self.root else { throw Program.Failure(description: "no control groups can be made here") }
    let parts = unit.split(separator: "/")
    path = "\(root)/\(unit)"
    for _ in 0..<100 {
      for count in 1...parts.count { mkdir("\(root)/\(parts.prefix(count).joined(separator: "/"))", 0o755) }
      // Another test may just have removed a folder above it.
      if access("\(path)/cgroup.procs", W_OK) == 0 { return }
    }
    throw Program.Failure(description: "\(path) can't be made")
  }

  /// The folders above it may be another test's, and then stay.
  deinit {
    var path = path
    for _ in 0..<100 where rmdir(path) != 0 && errno == EBUSY { usleep(10_000) }
    repeat {
      path = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    } while path != Self.root && rmdir(path) == 0
  }
}
