public import JSONRPC

/// A failure of the connection to a daemon. Errors that the daemon itself reports are `RPCError`.
public enum ClientConnectionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No process listens at this path.
  case notRunning(path: String)
  /// The caller has no permission to use the socket.
  case notPermitted(path: String)
  /// The connection had ended before the call was sent, so the call was not run.
  case notSent
  /// The connection ended before the response. Whether the call was run is unknown.
  case closed
  /// The time limit passed without a connection or a response. A `ClientConnection` also cancels the call at the
  /// daemon.
  case timeout
  /// The daemon sent something that is not a message.
  case badMessage(String)
  /// Notifications came faster than they were read.
  case overflow
  /// A system call failed.
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

/// A notification that the daemon sent.
public struct ServerNotification: Sendable, Hashable {
  /// The method's name.
  public let method: String
  /// The params; `nil` if there are none.
  public let params: JSON?

  /// Makes a notification.
  public init(method: String, params: JSON?) {
    self.method = method
    self.params = params
  }
}

/// The settings of a client connection.
public struct ClientSettings: Sendable {
  /// The time after which connecting fails while the daemon's backlog is full.
  public var connectTimeout: Duration = .seconds(5)
  /// The longest line that is accepted from the daemon, in bytes.
  public var maxLineBytes = 64 << 20
  /// The largest number of unread notifications; one more ends the connection.
  public var maxNotifications = 4096

  /// The settings for a client on the same machine.
  public static let standard = ClientSettings()
}
