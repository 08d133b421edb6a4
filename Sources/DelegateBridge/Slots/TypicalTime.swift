/// How long something takes as a rule, learned from how long it took: a moving average that believes bad news sooner
/// than good news.
public struct TypicalTime: Sendable, Hashable {
  /// Seconds; `nil` before the first time.
  public private(set) var seconds: Double?

  /// Nothing is known yet.
  public init() {}

  /// It took so many seconds this time; what is no time, or longer than ten minutes, counts as the nearest one.
  public mutating func note(_ sample: Double) {
    guard sample.isFinite else { return }
    let sample = min(max(sample, 0), 600)
    guard let former = seconds else {
      seconds = sample
      return
    }
    seconds = former + (sample - former) * (sample > former ? 0.5 : 0.125)
  }
}
