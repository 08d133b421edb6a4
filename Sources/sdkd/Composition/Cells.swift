import SDKProtocol
import Synchronization

/// Whether every instance has been restored.
final class ReadinessCell: Sendable {
  private let state = Atomic(false)
  var value: Bool { state.load(ordering: .acquiring) }
  func set() { state.store(true, ordering: .releasing) }
}

/// The error of all calls that need state; `nil` while they can be served.
final class FailureCell: Sendable {
  private let state: Mutex<SDKError?>
  init(_ error: SDKError?) { state = Mutex(error) }
  var value: SDKError? { state.withLock { $0 } }
  func set(_ error: SDKError?) { state.withLock { $0 = error } }
}
