import FlyingSocks
import Foundation

/// A body that ends in an error once its bytes are out, upon which the HTTP library closes the connection.
///
/// With fewer bytes than announced the client sees a response that was cut; with all of them, one whose connection
/// can't be used again.
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
