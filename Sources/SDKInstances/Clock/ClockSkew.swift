import SDKProtocol

/// How far a vendor's clock is ahead of ours, learned from the `Date` of its answers. A value without a clock.
///
/// What is learned decides when a credential has ended and nothing else: the vendor will measure it by its own clock.
struct ClockSkew: Sendable, Hashable {
  /// Seconds of difference that are left alone: a date has whole seconds, and clocks that are kept differ by less.
  static let tolerance = 5.0
  /// Seconds of difference that are not believed.
  static let limit = 86_400.0
  /// Seconds that an exchange may take to say something of the time.
  static let longestExchange = 10.0

  /// The seconds that the vendor is ahead, as far as is known.
  private(set) var offset: Double?

  /// Nothing is known yet.
  init() {}

  /// Takes in the date of an answer, which was set between the sending and the receiving by our clock.
  mutating func note(date: Timestamp, sentAt: Timestamp, receivedAt: Timestamp) {
    // A clock that was set in between measures nothing.
    guard (0...Self.longestExchange).contains(receivedAt - sentAt) else { return }
    let possible = (date - receivedAt)...(date - sentAt + 1)
    guard (-Self.limit...Self.limit).contains(possible.lowerBound) else { return }
    // What fits is kept, or each answer would move all plans a little.
    if let offset, possible.contains(offset) { return }
    offset = (possible.lowerBound + possible.upperBound) / 2
  }

  /// Corrects the offset after our clock was set forward by so many seconds.
  mutating func shift(by seconds: Double) {
    guard let offset else { return }
    let next = offset - seconds
    self.offset = (-Self.limit...Self.limit).contains(next) ? next : nil
  }

  /// The seconds to add to our time to have the vendor's.
  var correction: Double {
    guard let offset, abs(offset) > Self.tolerance else { return 0 }
    return offset
  }
}
