/// How long to pause between attempts: each pause is twice the one before.
public struct RetrySchedule: Sendable, Hashable {
  private var pause: Duration
  private let longest: Duration
  private var left: Duration?

  /// A schedule that ends when its pauses add up to `limit`; `nil` for one that never ends.
  public init(
    first: Duration = .milliseconds(10), longest: Duration = .milliseconds(500), limit: Duration? = .seconds(5)
  ) {
    pause = first
    self.longest = longest
    left = limit
  }

  /// The pause before the next attempt; `nil` when there is none.
  public mutating func next() -> Duration? {
    var given = min(pause, longest)
    if let left {
      guard left > .zero else { return nil }
      given = min(given, left)
      self.left = left - given
    }
    pause = min(pause * 2, longest)
    return given
  }
}
