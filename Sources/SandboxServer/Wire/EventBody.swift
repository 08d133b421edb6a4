import FlyingFox
import FlyingSocks
import Foundation

/// A body that is sent as it comes into being: the events of a stream.
struct EventBody: AsyncBufferedSequence {
  typealias Element = UInt8

  let stream: OpenStream

  func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    fileprivate var stream: OpenStream
    private var rest = Data()

    fileprivate init(stream: OpenStream) { self.stream = stream }

    mutating func next() async throws -> UInt8? {
      if rest.isEmpty { rest = await stream.next() ?? Data() }
      return rest.popFirst()
    }

    mutating func nextBuffer(suggested count: Int) async throws -> Data.SubSequence? {
      if rest.isEmpty { rest = await stream.next() ?? Data() }
      guard !rest.isEmpty else { return nil }
      defer { rest = Data(rest.dropFirst(count)) }
      return rest.prefix(count)
    }
  }
}
