/// A schedule of pauses between attempts: each is twice the one before, up to `longest`.
public struct RetrySchedule: Sendable, Hashable {
  private var pause: Duration
  private var left: Duration?
  /// The longest pause.
  public let longest: Duration

  /// Creates a schedule that ends when its pauses add up to `limit`, or never if `limit` is `nil`.
  public init(
    first: Duration = .milliseconds(10), longest: Duration = .milliseconds(500), limit: Duration? = .seconds(5)
  ) {
    pause = first
    self.longest = longest
    left = limit
  }

  /// Returns the pause before the next attempt, or `nil` when the schedule has ended.
  ///
  /// - Parameter random: from 0 for half of the pause to 1 for all of it, so that clients that lost the same daemon
  ///   don't reconnect at the same moment.
  public mutating func next(random: Double = 1) -> Duration? {
    let whole = min(pause, longest)
    var given = whole * (0.5 + 0.5 * min(max(random, 0), 1))
    if let left {
      guard left > .zero else { return nil }
      given = min(given, left)
      self.left = left - given
    }
    pause = min(pause * 2, longest)
    return given
  }
}
