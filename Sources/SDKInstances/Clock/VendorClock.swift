public import SDKProtocol
import Synchronization

/// The clock of one instance's vendor: the daemon's clock, corrected by the header `Date` of the vendor's responses. It
/// decides when credentials expire.
public final class VendorClock: Sendable {
  private let ours: WallClock
  private let skew = Mutex(ClockSkew())
  /// The bits of the correction in seconds, so that readers take no lock.
  private let correctionBits = Atomic<UInt64>(0)

  /// Creates a clock that shows the daemon's time until a response indicates an offset.
  public init(_ ours: WallClock) { self.ours = ours }

  /// The vendor's time.
  public var now: Timestamp { ours.now() + correction }

  /// Converts a time of the vendor's clock to the daemon's.
  func ours(_ time: Timestamp) -> Timestamp { time - correction }

  /// The seconds by which the vendor's clock is ahead of the daemon's; 0 for small offsets.
  var correction: Double { Double(bitPattern: correctionBits.load(ordering: .relaxed)) }

  /// The vendor's time as a clock.
  public var wallClock: WallClock { WallClock(now: { self.now }, random: ours.random) }

  /// Updates the correction from the header `Date` of a response. A response with the header `Age` comes from a cache
  /// and is ignored.
  func note(headers: [String: String], sentAt: Timestamp) {
    guard headers["age"] == nil, let date = headers["date"].flatMap({ Timestamp(httpDate: $0) }) else { return }
    let receivedAt = ours.now()
    skew.withLock { skew in
      skew.note(date: date, sentAt: sentAt, receivedAt: receivedAt)
      correctionBits.store(skew.correction.bitPattern, ordering: .relaxed)
    }
  }

  /// Keeps the vendor's time unchanged after the daemon's clock was set forward by `seconds`.
  func shift(by seconds: Double) {
    skew.withLock { skew in
      skew.shift(by: seconds)
      correctionBits.store(skew.correction.bitPattern, ordering: .relaxed)
    }
  }

  /// Returns the daemon's time, to be passed to `note` as `sentAt`.
  func sending() -> Timestamp { ours.now() }
}

/// An HTTP client that passes the dates of an instance's responses to its `VendorClock`, and otherwise forwards
/// requests to another client.
struct DatedHTTP: HTTPSending {
  let base: any HTTPSending
  let clock: VendorClock

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    let sentAt = clock.sending()
    let response = try await base.send(request)
    clock.note(headers: response.headers, sentAt: sentAt)
    return response
  }

  func forget(instance: String) async { await base.forget(instance: instance) }
}
