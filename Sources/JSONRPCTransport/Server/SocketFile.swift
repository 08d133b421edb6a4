internal import Glibc

/// A socket's file, identified by its path and inode.
public struct SocketFile: Sendable {
  private let path: String
  private let device: UInt
  private let inode: UInt

  /// Identifies the file at this path. Returns `nil` if there is none.
  init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.path = path
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
  }

  /// Removes the file, unless another file has replaced it.
  public func remove() {
    guard let now = SocketFile(path: path), now.device == device, now.inode == inode else { return }
    unlink(path)
  }
}
