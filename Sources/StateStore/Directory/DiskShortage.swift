import Glibc

/// The check whether a disk has room for changes.
enum DiskShortage {
  /// The number of free bytes below which a disk counts as full. An opening of the state needs about half of it.
  private static let leastBytes: UInt64 = 128 << 10
  /// `ST_RDONLY` of statvfs(3).
  private static let readOnly: UInt = 1

  /// Returns what the disk with a directory lacks, in plain words; `nil` if it has room.
  static func text(at directory: String) -> String? {
    var disk = statvfs()
    guard statvfs(directory, &disk) == 0 else { return nil }
    if disk.f_flag & readOnly != 0 { return "the disk is mounted read-only" }
    if UInt64(disk.f_bavail) * UInt64(disk.f_frsize) < leastBytes { return "the disk is full" }
    // Some file systems have no fixed number of files and report zero.
    if disk.f_files > 0, disk.f_favail == 0 { return "the disk has no room for another file (no free inodes)" }
    return nil
  }
}
