import DelegateBridge
import SDKProtocol

/// The provider's reasons of `protocol.md`, as delegates give cause for them.
extension SDKError {
  /// The owner says no.
  static let delegateDenied = SDKError(
    .provider, .providerDenied, "The delegate says no to this user; its owner decides.")

  /// The delegate is there and has not answered.
  static let delegateTimedOut = SDKError(
    .provider, .providerTimeout, "The delegate did not answer in time; make it faster or attach it with more timeout.")

  /// The delegate was expected back and did not come.
  static let delegateAbsent = SDKError(
    .provider, .providerTimeout, "The delegate that was attached has not come back yet; try again.")

  /// What else goes wrong with a delegate.
  static func delegateFailed(_ how: String) -> SDKError {
    SDKError(.provider, .providerFailed, "The delegate \(how); try again.")
  }

  /// The asking task was cancelled.
  static let delegateNotNeeded = SDKError(
    .limit, .shuttingDown, "The daemon stopped asking the delegate; try again.")

  /// Too many connections answer for an instance.
  static func tooManyDelegates(_ id: InstanceID, limit: Int) -> SDKError {
    SDKError(
      .limit, .tooManySubscriptions, "\(limit) connections answer for \(id) already; detach one first.", instance: id)
  }

  /// Too many instances on one connection.
  static func tooManyAttachments(limit: Int) -> SDKError {
    SDKError(
      .limit, .tooManyInstances,
      "A connection answers for at most \(limit) instances; attach the others on another connection.")
  }
}
