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

/// The reason why there is no listening socket.
public enum ListenerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another process answers on this path, or is about to create its socket.
  case inUse(path: String)
  /// The socket at this path belongs to another user, so it is not removed. No process answers on it, or we may not
  /// connect to it.
  case foreignSocket(path: String, owner: UInt32)
  /// The file at this path is not a socket.
  case notASocket(path: String)
  /// The path has more bytes than fit into a socket address.
  case pathTooLong(path: String, limit: Int)
  /// The descriptor is not a listening unix stream socket.
  case notListening(descriptor: Int32)
  /// A system call failed.
  case system(call: String, errno: Int32, path: String)

  public var description: String {
    switch self {
    case .inUse(let path): "Another daemon answers on \(path). Stop it, or choose another path."
    case .foreignSocket(let path, let owner):
      "The socket \(path) belongs to another user (uid \(owner)). Have its owner remove it, or choose another path."
    case .notASocket(let path): "\(path) exists and is no socket. Remove it, or choose another path."
    case .pathTooLong(let path, let limit): "The path \(path) is longer than \(limit) bytes. Choose a shorter one."
    case .notListening(let descriptor): "Descriptor \(descriptor) is no listening unix stream socket."
    case .system(_, ENOENT, let path): "\(path) is missing. Make the directory, or choose another path."
    case .system(_, let errno, let path) where [EACCES, EPERM, EROFS].contains(errno):
      "This user may not make a socket at \(path) (\(SystemCallError.text(of: errno))). Choose another path, or have systemd pass the socket for clients."
    case .system(let call, let errno, let path): "\(call) failed for \(path): \(SystemCallError.text(of: errno))."
    }
  }
}
