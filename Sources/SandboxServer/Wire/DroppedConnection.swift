import FlyingFox

/// Closes a connection without a byte.
///
/// The HTTP library answers whatever fails with a 500. Only a WebSocket handler may still fail after it and before
/// the response's head is written, so this poses as one.
struct DroppedConnection: WSHandler {
  func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
    throw Dropped()
  }

  private struct Dropped: Error {}
}
