public import Glibc

/// The permissions and the owners of a file.
public struct FileMode: Sendable, Hashable {
  /// The permission bits.
  public var bits: mode_t
  /// The owner.
  public var owner: uid_t
  /// The group.
  public var group: gid_t

  /// A mode with these parts.
  public init(bits: mode_t, owner: uid_t, group: gid_t) {
    self.bits = bits
    self.owner = owner
    self.group = group
  }

  /// Whether everyone can write it.
  public var isWritableByAnyone: Bool { bits & S_IWOTH != 0 }

  /// Whether users other than its owner, root and the daemon can read it. Group access is allowed if the file is root's
  /// and the group is the daemon's own: packages give a daemon read-only files in this way.
  public var isReadableByOthers: Bool {
    if bits & S_IROTH != 0 { return true }
    guard bits & S_IRGRP != 0 else { return false }
    return owner != 0 || group != getegid()
  }
}
