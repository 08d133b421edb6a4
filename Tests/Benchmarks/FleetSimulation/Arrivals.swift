import Randomness

/// The arrivals of requests at the vendor, counted in bins of ten seconds.
struct Arrivals: Sendable, Hashable {
  /// The width of a bin, in seconds.
  static let width = 10.0

  /// The number of requests in each bin, in order of time.
  private(set) var counts: [Int]
  /// The time, in simulated seconds, at which the last client with a failed renewal had a token again; `nil` if none
  /// had failed.
  var lastRecovery: Double?
  /// The number of renewals that succeeded only after the token had expired.
  var lapses = 0

  init(duration: Double) { counts = Array(repeating: 0, count: Int((duration / Self.width).rounded(.up))) }

  mutating func note(_ time: Double) {
    let bin = Int(time / Self.width)
    if counts.indices.contains(bin) { counts[bin] += 1 }
  }

  /// Returns the requests per second in a bin.
  func rate(_ bin: Int) -> Double { Double(counts[bin]) / Self.width }

  /// Returns the highest rate of a bin in a period, in requests per second; 0 if the period has no bin.
  func peak(_ time: Range<Double>) -> Double { bins(time).map(rate).max() ?? 0 }

  /// Returns the mean rate in a period, in requests per second; 0 if the period has no bin.
  func mean(_ time: Range<Double>) -> Double {
    let bins = bins(time)
    return bins.isEmpty ? 0 : bins.map(rate).reduce(0, +) / Double(bins.count)
  }

  private func bins(_ time: Range<Double>) -> Range<Int> {
    (Int(time.lowerBound / Self.width)..<Int((time.upperBound / Self.width).rounded(.up))).clamped(to: counts.indices)
  }
}

extension SeededGenerator {
  /// Returns a random number from 0 to 1, excluding 1.
  mutating func part() -> Double { Double(next() >> 11) / Double(UInt64(1) << 53) }
}
