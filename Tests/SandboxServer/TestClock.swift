import Foundation
import Synchronization

/// The machine's clock, which moves only when a test advances it.
final class TestClock: Sendable {
  private let seconds = Mutex(1_800_000_000.0)

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(by seconds: Double) {
    self.seconds.withLock { $0 += seconds }
  }
}
