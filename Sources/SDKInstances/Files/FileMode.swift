public import Glibc

/// Who can read and write a file.
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

  /// Whether others than its owner, root and the daemon can read it. A group may if it is the daemon's own and the file
  /// is root's: that is how a package hands a file to a daemon without letting it write.
  public var isReadableByOthers: Bool {
    if bits & S_IROTH != 0 { return true }
    guard bits & S_IRGRP != 0 else { return false }
    return owner != 0 || group != getegid()
  }
}
