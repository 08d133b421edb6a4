/// The patience of a test that waits for a condition. It ends when a time has passed and 100 looks have seen nothing.
///
/// A look that suspends its task waits for the other tests that need a thread. Beside hundreds of tests under a sanitizer
/// that takes seconds, so that a time alone may pass during a single look.
public struct Patience {
  private let end: ContinuousClock.Instant
  private var looks = 100

  /// Creates a patience of at least `limit`, which no healthy machine needs.
  public init(_ limit: Duration = .seconds(20)) { end = .now + limit }

  /// Notes a look that saw nothing. Returns whether it was the last.
  public mutating func isOver() -> Bool {
    looks -= 1
    return looks <= 0 && ContinuousClock.now >= end
  }
}
