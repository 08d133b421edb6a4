import SDKProtocol

/// The offset of a vendor's clock from the daemon's, computed from the header `Date` of its responses. It is a value
/// without a clock of its own.
///
/// The offset only decides when a credential has expired, because the vendor measures that by its own clock.
struct ClockSkew: Sendable, Hashable {
  /// The offset in seconds up to which `correction` is 0. `Date` has whole seconds, and synchronized clocks differ by
  /// less.
  static let tolerance = 5.0
  /// The offset in seconds above which a `Date` is ignored as wrong.
  static let limit = 86_400.0
  /// The maximum seconds between a request and its response. The `Date` of slower responses is ignored.
  static let longestExchange = 10.0

  /// The seconds by which the vendor's clock is ahead of the daemon's; `nil` if unknown.
  private(set) var offset: Double?
  /// The possible offsets by the last unsuccessful response that did not fit; `nil` if the last one fitted.
  private var candidate: ClosedRange<Double>?
  /// An offset by which a credential had expired that the vendor then accepted. It is not believed again.
  private var disproved: Double?

  /// Creates an unknown offset.
  init() {}

  /// Updates the offset from the `Date` of a response, which the vendor set between `sentAt` and `receivedAt` of the
  /// daemon's clock. An error page may come from a proxy with another clock, so two of them must agree.
  mutating func note(date: Timestamp, sentAt: Timestamp, receivedAt: Timestamp, isSuccess: Bool) {
    // If our clock was set during the exchange, the date is useless.
    guard (0...Self.longestExchange).contains(receivedAt - sentAt) else { return }
    let possible = (date - receivedAt)...(date - sentAt + 1)
    guard (-Self.limit...Self.limit).contains(possible.lowerBound) else { return }
    // Keep an offset that fits the date: otherwise each response would move all plans a little.
    if let offset, possible.contains(offset) {
      candidate = nil
      return
    }
    let middle = (possible.lowerBound + possible.upperBound) / 2
    if let disproved, abs(middle - disproved) <= Self.tolerance { return }
    let isBelieved = isSuccess || candidate?.overlaps(possible) == true
    candidate = isBelieved ? nil : possible
    if isBelieved { offset = middle }
  }

  /// Forgets the offset, because the vendor has accepted a credential that had expired by it.
  mutating func disprove() {
    disproved = offset
    offset = nil
    candidate = nil
  }

  /// Corrects the offset after the daemon's clock was set forward by `seconds`.
  mutating func shift(by seconds: Double) {
    disproved = disproved.map { $0 - seconds }
    candidate = nil
    guard let offset else { return }
    let next = offset - seconds
    self.offset = (-Self.limit...Self.limit).contains(next) ? next : nil
  }

  /// The seconds to add to the daemon's time to get the vendor's; 0 within the tolerance.
  var correction: Double {
    guard let offset, abs(offset) > Self.tolerance else { return 0 }
    return offset
  }
}
