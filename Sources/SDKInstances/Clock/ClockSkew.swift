import SDKProtocol

/// The offset of a vendor's clock from ours, learned from the `Date` of its responses. A value type without a clock.
///
/// The offset only decides when a credential has expired, because the vendor measures that by its own clock.
struct ClockSkew: Sendable, Hashable {
  /// The offset in seconds up to which it is ignored. Dates have whole seconds, and synchronized clocks differ by less.
  static let tolerance = 5.0
  /// The offset in seconds above which it is not believed.
  static let limit = 86_400.0
  /// The longest duration, in seconds, of an exchange whose date is used.
  static let longestExchange = 10.0

  /// The seconds by which the vendor is ahead; `nil` if unknown.
  private(set) var offset: Double?

  /// An unknown offset.
  init() {}

  /// Learns from the date of a response, which the vendor set between `sentAt` and `receivedAt` of our clock.
  mutating func note(date: Timestamp, sentAt: Timestamp, receivedAt: Timestamp) {
    // If our clock was set during the exchange, the date is useless.
    guard (0...Self.longestExchange).contains(receivedAt - sentAt) else { return }
    let possible = (date - receivedAt)...(date - sentAt + 1)
    guard (-Self.limit...Self.limit).contains(possible.lowerBound) else { return }
    // Keep an offset that fits the date: otherwise each response would move all plans a little.
    if let offset, possible.contains(offset) { return }
    offset = (possible.lowerBound + possible.upperBound) / 2
  }

  /// Corrects the offset after our clock was set forward by `seconds`.
  mutating func shift(by seconds: Double) {
    guard let offset else { return }
    let next = offset - seconds
    self.offset = (-Self.limit...Self.limit).contains(next) ? next : nil
  }

  /// The seconds to add to our time to get the vendor's; 0 within the tolerance.
  var correction: Double {
    guard let offset, abs(offset) > Self.tolerance else { return 0 }
    return offset
  }
}
