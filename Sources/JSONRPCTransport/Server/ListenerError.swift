internal import Glibc
internal import Linux

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
      "This user may not make a socket at \(path) (\(SystemCallError.text(of: errno))). Have systemd pass it, or choose another path."
    case .system(let call, let errno, let path): "\(call) failed for \(path): \(SystemCallError.text(of: errno))."
    }
  }
}
