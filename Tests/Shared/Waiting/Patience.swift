/// How long a test waits for a condition: until a time is over and many looks were made.
///
/// A look that suspends its task takes as long as the work of all other tests that wait for a thread. Beside hundreds of
/// tests under a sanitizer that is seconds, so that a time alone may be over after one look.
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
