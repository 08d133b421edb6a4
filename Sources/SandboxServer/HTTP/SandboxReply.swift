/// What becomes of a request on the wire.
enum SandboxReply: Equatable, Sendable {
  /// The response as it is.
  case send(SandboxResponse)
  /// The response's head and half of its body, then the connection is closed.
  case cut(SandboxResponse)
  /// The connection is closed without a byte.
  case drop
  /// The response as it is, then the connection is closed: what follows on it can't be understood.
  case sendAndClose(SandboxResponse)
  /// The connection becomes a WebSocket.
  case upgrade(OpenSocket)
}
