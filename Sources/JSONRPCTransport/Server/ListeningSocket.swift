internal import CLinux
internal import Glibc
internal import Linux

/// A listening socket at a path, made without replacing one that is in use.
public struct ListeningSocket {
  /// The largest number of connections that wait to be accepted. The kernel lowers it to `net.core.somaxconn`.
  static let backlog: CInt = 4096

  /// The socket's descriptor. The owner of this value must close it.
  public let descriptor: CInt
  /// The socket's file.
  public let file: SocketFile

  /// Binds and listens.
  ///
  /// Until `mode` is set, the file grants no rights to others: Linux copies the mode of the socket to it, so the
  /// process's umask can stay unchanged. A lock on the directory protects two daemons that start at the same time:
  /// neither takes the other's new socket for a stale one.
  public static func bind(path: String, mode: UInt32) throws(ListenerError) -> ListeningSocket {
    guard let address = UnixAddress(path: path) else {
      throw .pathTooLong(path: path, limit: UnixAddress.maximumLength)
    }
    let directory = try lockDirectory(of: path)
    defer { close(directory) }
    try removeStale(path: path, address)
    let descriptor = UnixAddress.makeSocket()
    guard descriptor >= 0 else { throw .system(call: "socket", errno: errno, path: path) }
    do throws(ListenerError) {
      try check("fchmod", path, fchmod(descriptor, 0o600))
      try check("bind", path, address.withPointer { Glibc.bind(descriptor, $0, $1) })
      guard let file = SocketFile(path: path) else { throw .system(call: "stat", errno: errno, path: path) }
      do throws(ListenerError) {
        try check("chmod", path, chmod(path, mode & 0o777))
        try check("listen", path, listen(descriptor, backlog))
      } catch {
        file.remove()
        throw error
      }
      return ListeningSocket(descriptor: descriptor, file: file)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func check(_ call: String, _ path: String, _ status: CInt) throws(ListenerError) {
    guard status != 0 else { return }
    throw errno == EADDRINUSE ? .inUse(path: path) : .system(call: call, errno: errno, path: path)
  }

  private static func lockDirectory(of path: String) throws(ListenerError) -> CInt {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", errno: errno, path: directory) }
    guard cl_flock_exclusive_nonblocking(descriptor) == 0 else {
      close(descriptor)
      throw .inUse(path: path)
    }
    return descriptor
  }

  private static func removeStale(path: String, _ address: UnixAddress) throws(ListenerError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw .system(call: "lstat", errno: errno, path: path)
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
    let probe = UnixAddress.makeSocket()
    guard probe >= 0 else { throw .system(call: "socket", errno: errno, path: path) }
    defer { close(probe) }
    let answer = address.withPointer { connect(probe, $0, $1) } == 0 ? 0 : errno
    // Only ECONNREFUSED proves that no process listens. EAGAIN, for example, comes from a listener with a full backlog.
    // Without permission to connect, the owner decides: another user's socket is `foreignSocket`, one of our own
    // `inUse`.
    guard [ECONNREFUSED, EACCES, EPERM].contains(answer) else { throw .inUse(path: path) }
    guard status.st_uid == geteuid() else { throw .foreignSocket(path: path, owner: status.st_uid) }
    guard answer == ECONNREFUSED else { throw .inUse(path: path) }
    guard unlink(path) == 0 || errno == ENOENT else { throw .system(call: "unlink", errno: errno, path: path) }
  }
}
