/// An action of a backend on an open WebSocket.
enum SocketAction: Equatable, Sendable {
  /// Sends a text frame after a delay, if the socket is still open then.
  case send(JSONTree, to: Int, afterMilliseconds: Int = 0)
  /// Closes the socket with a close frame of this code (RFC 6455, 7.4). Without a code, cuts the connection.
  case close(Int, code: Int?)

  /// The number of the socket.
  var socket: Int {
    switch self {
    case .send(_, let socket, _), .close(let socket, _): socket
    }
  }
}
