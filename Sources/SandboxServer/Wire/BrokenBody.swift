import FlyingFox
import FlyingSocks
import Foundation

/// A body that throws after its last byte, which makes the HTTP library close the connection.
///
/// With fewer bytes than announced, the client sees a truncated response. With all bytes it sees a complete response on
/// a connection that can't be reused.
struct BrokenBody: AsyncBufferedSequence {
  typealias Element = UInt8

  let bytes: Data

  func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    fileprivate var rest: Data.SubSequence

    mutating func next() async throws -> UInt8? {
      guard let byte = rest.popFirst() else { throw Ended() }
      return byte
    }

    mutating func nextBuffer(suggested count: Int) async throws -> Data.SubSequence? {
      guard !rest.isEmpty else { throw Ended() }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }

  private struct Ended: Error {}
}

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
