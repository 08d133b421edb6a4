internal import Glibc

/// A socket's file in the file system, known by its inode and not by its name alone.
public struct SocketFile: Sendable {
  private let path: String
  private let device: UInt
  private let inode: UInt

  /// The file at this path; `nil` if there is none.
  init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.path = path
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
  }

  /// Removes the file, unless somebody has put another one in its place.
  public func remove() {
    guard let now = SocketFile(path: path), now.device == device, now.inode == inode else { return }
    unlink(path)
  }
}
