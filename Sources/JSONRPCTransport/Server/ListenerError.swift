internal import Glibc

/// Why there is no listening socket.
public enum ListenerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Somebody answers on this path, or is just about to.
  case inUse(path: String)
  /// Nobody answers on this path, but its socket is another user's: not ours to take away.
  case foreignSocket(path: String, owner: UInt32)
  /// Something that is no socket lies at this path.
  case notASocket(path: String)
  /// The path has more bytes than a socket's address holds.
  case pathTooLong(path: String, limit: Int)
  /// The descriptor is no listening unix stream socket.
  case notListening(descriptor: Int32)
  /// The system refused.
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
      "This user may not make a socket at \(path) (\(Self.words(errno))). Have systemd pass it, or choose another path."
    case .system(let call, let errno, let path): "\(call) failed for \(path): \(Self.words(errno))."
    }
  }

  private static func words(_ errno: Int32) -> String { String(cString: strerror(errno)) }
}
