import SDKProtocol

/// The pause after a disk failure, during which changes are refused. It doubles with each failure, up to a limit, until
/// a write succeeds.
struct RecoveryPause {
  private let first: Duration
  private let longest: Duration
  private var failure: SDKError?
  private var end = ContinuousClock.now

  /// The length of the present pause; `nil` if the last write succeeded.
  private(set) var current: Duration?

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// The error for changes during the pause; `nil` outside of it.
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
