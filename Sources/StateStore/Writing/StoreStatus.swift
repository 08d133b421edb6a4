import SDKProtocol
import Synchronization

/// The current health of the store and of its backups.
final class StoreStatus: Sendable {
  private let value = Mutex(StoreHealth.ok)
  private let unfinished = Mutex<[UnfinishedBackup]>([])

  /// The backups that may still hold destroyed keys, because they could not be changed.
  var unfinishedBackups: [UnfinishedBackup] { unfinished.withLock { $0 } }

  /// Replaces `unfinishedBackups` and returns the former ones.
  func set(_ backups: [UnfinishedBackup]) -> [UnfinishedBackup] {
    unfinished.withLock { value in
      defer { value = backups }
      return value
    }
  }

  var health: StoreHealth { value.withLock { $0 } }

  /// Replaces the health and returns the former one.
  @discardableResult
  func set(_ health: StoreHealth) -> StoreHealth {
    value.withLock { value in
      defer { value = health }
      return value
    }
  }
}

/// The pause after a disk failure, during which changes are refused. It doubles with each failure, up to a limit, until
/// a write succeeds.
struct RecoveryPause {
  private let first: Duration
  private let longest: Duration
  private var failure: SDKError?
  private var end = ContinuousClock.now

  /// The length of the current pause; `nil` if the last write succeeded.
  private(set) var current: Duration?

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// The error with which changes are refused while the pause lasts: that of the disk failure. `nil` when no pause is
  /// in progress.
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
