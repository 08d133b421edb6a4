/// A command for the connection of an open WebSocket.
enum SocketCommand: Equatable, Sendable {
  /// Sends a text frame after a delay.
  case send(String, afterMilliseconds: Int)
  /// Sends a close frame with this code and closes the connection. Without a code, only closes the connection.
  case close(code: Int?)
}
