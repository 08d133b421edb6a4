import SDKInstances
import SDKProtocol
import Synchronization

/// A limit on how often a fact that a vendor has stated is requested again: at most once every `interval` seconds.
final class RereadLimit: Sendable {
  private let clock: WallClock
  private let readAt = Mutex<Timestamp?>(nil)

  /// The minimum seconds between two requests for a known fact.
  static let interval = 60.0

  init(clock: WallClock) { self.clock = clock }

  /// Whether the fact may be requested again now.
  var allows: Bool { readAt.withLock { Self.allows($0, clock.machine()) } }

  /// Notes that the fact is being read.
  func note() { readAt.withLock { $0 = clock.machine() } }

  /// Notes that the fact is being read, if that is allowed now, and returns whether it is.
  func take() -> Bool {
    readAt.withLock { readAt in
      // Not by the vendor's clock, which its responses set.
      let now = clock.machine()
      guard Self.allows(readAt, now) else { return false }
      readAt = now
      return true
    }
  }

  /// A clock that was set back ends the wait, too.
  private static func allows(_ readAt: Timestamp?, _ now: Timestamp) -> Bool {
    readAt.map { now < $0 || now - $0 >= interval } ?? true
  }
}
