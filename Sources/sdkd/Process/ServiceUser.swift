import Glibc

/// The user of a daemon that the package's units start.
struct ServiceUser {
  /// The name, which need not exist: that of a tenant exists only while its daemon runs.
  let name: String

  /// Returns the user of the daemon with this configuration file; `nil` for a file that belongs to no unit.
  init?(ofConfiguration path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    if path.hasPrefix("/etc/sdkd/") {
      name = "sdkd"
    } else if path.hasPrefix("/etc/sdkd-tenants/"), parts.count > 4 {
      name = "sdkd_\(parts[3])"
    } else {
      return nil
    }
  }

  /// Gives up root's rights for those of this user. Does nothing in a process of another user, or without such a user.
  func become() {
    guard geteuid() == 0, let entry = getpwnam(name) else { return }
    let (uid, gid) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    guard uid != 0, initgroups(name, gid) == 0, setgid(gid) == 0, setuid(uid) == 0 else { return }
  }
}
