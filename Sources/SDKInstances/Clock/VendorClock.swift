public import SDKProtocol
import Synchronization

/// The time as the vendor of one instance has it: ours, corrected by what its answers say. Ends of credentials are
/// measured by it.
public final class VendorClock: Sendable {
  private let ours: WallClock
  private let skew = Mutex(ClockSkew())
  /// The bits of the correction, in seconds, for readers that take no lock.
  private let correctionBits = Atomic<UInt64>(0)

  /// Our clock, until an answer says otherwise.
  public init(_ ours: WallClock) { self.ours = ours }

  /// The vendor's time.
  public var now: Timestamp { ours.now() + correction }

  /// A moment of the vendor's time, by our clock.
  func ours(_ time: Timestamp) -> Timestamp { time - correction }

  /// The seconds that the vendor is ahead of us; 0 for little.
  var correction: Double { Double(bitPattern: correctionBits.load(ordering: .relaxed)) }

  /// The vendor's time as a clock.
  public var wallClock: WallClock { WallClock(now: { self.now }, random: ours.random) }

  /// Takes in the `Date` of an answer; what a cache has kept says nothing.
  func note(headers: [String: String], sentAt: Timestamp) {
    guard headers["age"] == nil, let date = headers["date"].flatMap(HTTPDate.read) else { return }
    let receivedAt = ours.now()
    skew.withLock { skew in
      skew.note(date: date, sentAt: sentAt, receivedAt: receivedAt)
      correctionBits.store(skew.correction.bitPattern, ordering: .relaxed)
    }
  }

  /// Keeps the vendor's time as it was when our clock was set forward by so many seconds.
  func shift(by seconds: Double) {
    skew.withLock { skew in
      skew.shift(by: seconds)
      correctionBits.store(skew.correction.bitPattern, ordering: .relaxed)
    }
  }

  /// Our own time, for what is measured by it.
  func sending() -> Timestamp { ours.now() }
}
