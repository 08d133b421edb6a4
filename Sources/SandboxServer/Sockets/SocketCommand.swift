/// What is to be done on the wire of an open WebSocket.
enum SocketCommand: Equatable, Sendable {
  /// Sends a text frame, after so many milliseconds.
  case send(String, afterMilliseconds: Int)
  /// Sends a close frame with that code and closes the connection; without a code it is just closed.
  case close(code: Int?)
}
