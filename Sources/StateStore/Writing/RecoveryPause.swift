import SDKProtocol

/// How long a disk that failed is left alone: longer each time, until something was written.
struct RecoveryPause {
  private let first: Duration
  private let longest: Duration
  private var failure: SDKError?
  private var end = ContinuousClock.now

  /// The present pause; `nil` while all is well.
  private(set) var current: Duration?

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// What to answer as long as it lasts.
  var refusal: SDKError? {
    guard current != nil, ContinuousClock.now < end else { return nil }
    return failure
  }

  mutating func begin(with error: SDKError) {
    let pause = current.map { min($0 * 2, longest) } ?? first
    current = pause
    failure = error
    end = .now + pause
  }

  mutating func reset() {
    current = nil
    failure = nil
  }
}
