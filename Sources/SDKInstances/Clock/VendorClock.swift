public import SDKProtocol
import StateStore
import Synchronization

/// The clock of one instance's vendor: the daemon's clock, corrected by the header `Date` of the vendor's responses. It
/// decides when credentials expire.
public final class VendorClock: Sendable {
  private let ours: WallClock
  private let skew = Mutex(ClockSkew())
  /// The bits of the correction in seconds, so that readers take no lock.
  private let correctionBits = Atomic<UInt64>(0)
  private let observer = Mutex<(@Sendable (Double) -> Void)?>(nil)
  /// The instance, and where to note that its clock is far; `nil` once the instance is forgotten.
  private let index: Mutex<(instance: InstanceUUID, clocks: FarClocks)?>

  /// Creates a clock that shows the daemon's time until a response indicates an offset.
  public convenience init(_ ours: WallClock) { self.init(ours, index: nil) }

  /// Creates the clock of an instance, which is noted among `clocks` while it is far.
  convenience init(_ ours: WallClock, of instance: InstanceUUID, _ clocks: FarClocks) {
    self.init(ours, index: (instance, clocks))
  }

  private init(_ ours: WallClock, index: (InstanceUUID, FarClocks)?) {
    self.ours = ours
    self.index = Mutex(index)
  }

  /// The vendor's time.
  public var now: Timestamp { ours.now() + correction }

  /// The daemon's time.
  var machineNow: Timestamp { ours.now() }

  /// Converts a time of the vendor's clock to the daemon's.
  func ours(_ time: Timestamp) -> Timestamp { time - correction }

  /// The seconds by which the vendor's clock is ahead of the daemon's; 0 for small offsets.
  var correction: Double { Double(bitPattern: correctionBits.load(ordering: .relaxed)) }

  /// Returns the words for a correction, such as `30 s behind`.
  static func words(_ correction: Double) -> String {
    "\(Int(abs(correction))) s \(correction > 0 ? "ahead" : "behind")"
  }

  /// The vendor's time as a clock.
  public var wallClock: WallClock { WallClock(now: { self.now }, machine: ours.now, random: ours.random) }

  /// Sets the function that is called with each new correction.
  func observe(_ observer: @escaping @Sendable (Double) -> Void) { self.observer.withLock { $0 = observer } }

  /// Updates the correction from the header `Date` of a response. A response with the header `Age` comes from a cache
  /// and is ignored.
  func note(headers: [String: String], status: Int, sentAt: Timestamp) {
    guard headers["age"] == nil, let date = headers["date"].flatMap({ Timestamp(httpDate: $0) }) else { return }
    let receivedAt = ours.now()
    change {
      $0.note(date: date, sentAt: sentAt, receivedAt: receivedAt, isSuccess: (200..<300).contains(status))
    }
  }

  /// Keeps the vendor's time unchanged after the daemon's clock was set forward by `seconds`.
  func shift(by seconds: Double) { change { $0.shift(by: seconds) } }

  /// Forgets the correction, because the vendor has accepted a credential that had expired by it.
  func disprove() { change { $0.disprove() } }

  /// Notes no longer that the clock is far.
  func forget() {
    index.withLock { index in
      index.map { $0.clocks.note($0.instance, isFar: false) }
      index = nil
    }
  }

  private static func isFar(_ correction: Double) -> Bool { abs(correction) > 60 }

  private func change(_ body: (inout ClockSkew) -> Void) {
    let changed: Double? = skew.withLock { skew in
      let former = skew.correction
      body(&skew)
      let isFar = Self.isFar(skew.correction)
      if isFar != Self.isFar(former) { index.withLock { $0.map { $0.clocks.note($0.instance, isFar: isFar) } } }
      correctionBits.store(skew.correction.bitPattern, ordering: .relaxed)
      return abs(skew.correction - former) > ClockSkew.tolerance ? skew.correction : nil
    }
    if let changed { observer.withLock { $0 }?(changed) }
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
    clock.note(headers: response.headers, status: response.status, sentAt: sentAt)
    return response
  }
}
