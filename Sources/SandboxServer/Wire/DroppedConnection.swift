import FlyingFox

/// A handler that closes a connection without sending a byte.
///
/// The HTTP library responds to errors with a 500. Only a WebSocket handler may throw after that and before the
/// response's head is written. Therefore this type is a WebSocket handler.
struct DroppedConnection: WSHandler {
  func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
    throw Dropped()
  }

  private struct Dropped: Error {}
}
