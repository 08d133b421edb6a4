/// Who arrived at the vendor when: requests counted in bins of ten seconds.
struct Arrivals: Sendable, Hashable {
  /// Seconds of a bin.
  static let width = 10.0

  /// Requests in each bin.
  private(set) var counts: [Int]
  /// When the last client whose renewal had failed had a token again; `nil` when none had failed.
  var lastRecovery: Double?
  /// How many clients were without a living token at some time.
  var lapses = 0

  init(duration: Double) { counts = Array(repeating: 0, count: Int((duration / Self.width).rounded(.up))) }

  mutating func note(_ time: Double) {
    let bin = Int(time / Self.width)
    if counts.indices.contains(bin) { counts[bin] += 1 }
  }

  /// Requests a second in a bin.
  func rate(_ bin: Int) -> Double { Double(counts[bin]) / Self.width }

  /// The highest rate in a time.
  func peak(_ time: Range<Double>) -> Double { bins(time).map(rate).max() ?? 0 }

  /// The mean rate in a time.
  func mean(_ time: Range<Double>) -> Double {
    let bins = bins(time)
    return bins.isEmpty ? 0 : bins.map(rate).reduce(0, +) / Double(bins.count)
  }

  private func bins(_ time: Range<Double>) -> Range<Int> {
    (Int(time.lowerBound / Self.width)..<Int((time.upperBound / Self.width).rounded(.up))).clamped(to: counts.indices)
  }
}
