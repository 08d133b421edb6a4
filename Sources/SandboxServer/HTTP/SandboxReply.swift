/// The sandbox's reply to a request on the wire.
enum SandboxReply: Equatable, Sendable {
  /// Sends the response.
  case send(SandboxResponse)
  /// Sends the response's head and half of its body, then closes the connection.
  case cut(SandboxResponse)
  /// Closes the connection without sending a byte.
  case drop
  /// Sends the response, then closes the connection, since the following bytes can't be understood.
  case sendAndClose(SandboxResponse)
  /// Turns the connection into a WebSocket.
  case upgrade(OpenSocket)
}
