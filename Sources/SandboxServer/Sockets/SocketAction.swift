/// What a backend wants done to an open WebSocket.
enum SocketAction: Equatable, Sendable {
  /// Sends a text frame, after so many milliseconds if the socket is still open then.
  case send(JSONTree, to: Int, afterMilliseconds: Int = 0)
  /// Closes it with a close frame of that code (RFC 6455, 7.4); with `nil` the connection is cut.
  case close(Int, code: Int?)

  /// The socket that is meant.
  var socket: Int {
    switch self {
    case .send(_, let socket, _), .close(let socket, _): socket
    }
  }
}
