import Glibc

/// Who can read and write a file.
struct FileMode: Sendable, Hashable {
  var bits: mode_t
  var owner: uid_t
  var group: gid_t

  /// Whether everyone can write it.
  var isWritableByAnyone: Bool { bits & S_IWOTH != 0 }

  /// Whether others than its owner, root and the daemon can read it. A group may if it is the daemon's own and the file
  /// is root's: that is how a package hands a file to a daemon without letting it write.
  var isReadableByOthers: Bool {
    if bits & S_IROTH != 0 { return true }
    guard bits & S_IRGRP != 0 else { return false }
    return owner != 0 || group != getegid()
  }
}
