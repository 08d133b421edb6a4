import JSONRPC
import SDKProtocol
import Synchronization

@testable import SDKInstances

/// A realtime connection whose vendor end is the test.
final class FakeConnection: RealtimeConnection {
  private enum Event: Sendable {
    case news(RealtimeNews)
    case end(RealtimeEnd)
  }

  let user: String
  private let stream: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private let closings = Mutex(0)

  init(user: String) {
    self.user = user
    (stream, continuation) = AsyncStream.makeStream()
  }

  var isClosed: Bool { closings.withLock { $0 > 0 } }

  func tell(_ news: RealtimeNews) { continuation.yield(.news(news)) }
  func end(_ end: RealtimeEnd) { continuation.yield(.end(end)) }
  func lose() { end(.lost(SampleErrors.network)) }

  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    for await event in stream {
      switch event {
      case .news(let news): await hear(news)
      case .end(let end): return end
      }
    }
    return .lost(SampleErrors.network)
  }

  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject { request }

  func close() async {
    closings.withLock { $0 += 1 }
    continuation.finish()
  }
}
