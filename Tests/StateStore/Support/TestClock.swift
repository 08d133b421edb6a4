import SDKProtocol
import Synchronization

/// A clock that moves only when a test advances it.
final class TestClock: Sendable {
  private let time = Mutex(Timestamp(secondsSince1970: 1_800_000_000.125))

  var now: Timestamp { time.withLock { $0 } }

  func advance(by seconds: Double) { time.withLock { $0 = $0 + seconds } }
}
