import Glibc

/// The user of a daemon that the package's units start.
struct ServiceUser {
  /// The name, which need not exist: that of a tenant exists only while its daemon runs.
  let name: String
  /// The group of the daemon; `nil` for the user's own.
  let group: String?

  /// Returns the user of the daemon with this configuration file; `nil` for a file that belongs to no unit.
  init?(ofConfiguration path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    if path.hasPrefix("/etc/sdkd/") {
      (name, group) = ("sdkd", nil)
    } else if path.hasPrefix("/etc/sdkd-tenants/"), parts.count > 4 {
      // The configuration of tenants is readable for this group, and their users are in it only while they run.
      (name, group) = ("sdkd_\(parts[3])", "sdkd-tenants")
    } else {
      return nil
    }
  }

  /// Gives up root's rights for those of this user. Does nothing in a process of another user, or without such a user.
  func become() {
    guard geteuid() == 0, let entry = getpwnam(name) else { return }
    let (uid, own) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    let gid = group.flatMap { getgrnam($0)?.pointee.gr_gid } ?? own
    guard uid != 0, initgroups(name, gid) == 0, setgid(gid) == 0, setuid(uid) == 0 else { return }
  }
}
