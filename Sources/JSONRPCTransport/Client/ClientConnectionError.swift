/// Why a connection to a daemon can't be had or used. What the daemon itself refuses is an `RPCError`.
public enum ClientConnectionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nobody listens at this path.
  case notRunning(path: String)
  /// The caller may not use the socket.
  case notPermitted(path: String)
  /// The connection had ended before the call was sent: it was not run.
  case notSent
  /// The connection has ended: whether the call was run is not known.
  case closed
  /// No answer in time; the daemon was told that none is needed any more.
  case timeout
  /// The daemon sent something that is no message.
  case badMessage(String)
  /// Notifications came faster than they were taken.
  case overflow
  /// The system refused.
  case system(call: String, errno: Int32)

  public var description: String {
    switch self {
    case .notRunning(let path): "No daemon answers on \(path). Start it, or give the path of its socket."
    case .notPermitted(let path): "You may not connect to \(path). Ask for membership in the group of the socket."
    case .notSent: "The connection had ended before the call was sent. Connect again."
    case .closed: "The daemon has closed the connection. Whether the call was run is not known."
    case .timeout: "The daemon has not answered in time."
    case .badMessage(let cause): "The daemon sent something that is no message: \(cause)"
    case .overflow: "Notifications came faster than they were taken. Connect again and read from the last cursor."
    case .system(let call, let errno): "\(call) failed with errno \(errno)."
    }
  }
}
