import Glibc
import Linux
import SDKProtocol

/// The user who runs this program, as the kernel reports it to the daemon.
struct Caller {
  let uid: UInt32
  /// All groups, the primary one first.
  let groups: [UInt32]

  /// The caller of this process.
  static var process: Caller {
    var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
    let count = getgroups(Int32(groups.count), &groups)
    return Caller(uid: geteuid(), groups: [getegid()] + groups.prefix(max(0, Int(count))))
  }

  /// The user's name, or the uid if it has none.
  var name: String { getpwuid(uid).map { String(cString: $0.pointee.pw_name) } ?? "uid \(uid)" }

  /// Returns the strongest role that rules grant. Conditions on units never match, since a shell has no unit.
  func role(by rules: AccessRules) -> Role? {
    rules.byRole.first { $0.rules.contains(where: satisfies) }?.role
  }

  private func satisfies(_ rule: AccessRule) -> Bool {
    rule.conditions.allSatisfy { condition in
      switch condition {
      case .everyone: true
      case .user(let name): getpwnam(name).map { $0.pointee.pw_uid == uid } ?? false
      case .uid(let number): number == uid
      case .group(let name): getgrnam(name).map { groups.contains($0.pointee.gr_gid) } ?? false
      case .unit, .userUnit, .userScope: false
      }
    }
  }
}

/// The status of a process in `/proc`.
enum ProcStatus {
  /// Returns the effective uid of a process; `nil` when the process has ended or is hidden.
  static func uid(ofProcess pid: Int) -> UInt32? {
    guard let text = BoundedFile.text(at: "/proc/\(pid)/status", limit: 4096) else { return nil }
    let lines = text.split(separator: "\n")
    let numbers = lines.first { $0.hasPrefix("Uid:") }?.split(whereSeparator: \.isWhitespace)
    return numbers.flatMap { $0.count > 2 ? UInt32($0[2]) : nil }
  }
}
