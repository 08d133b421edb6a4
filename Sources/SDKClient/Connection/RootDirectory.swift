internal import Glibc

/// A directory of sockets that only root can change.
struct RootDirectory {
  /// The directory in which `sdkd.socket` creates the socket of the machine's daemon.
  static let daemon = RootDirectory(path: "/run/sdkd")

  let path: String

  /// Whether a path is that of a socket in this directory, and only root can write to the directory. Only root can then
  /// have created the socket.
  func containsSocket(_ socket: String) -> Bool {
    guard socket.hasPrefix("\(path)/"), socket.hasSuffix(".sock"),
      !socket.dropFirst(path.utf8.count + 1).contains("/")
    else { return false }
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == 0
      && status.st_mode & 0o022 == 0
  }
}
