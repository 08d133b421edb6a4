import DelegateBridge
import SDKProtocol

/// The errors of delegates, with the provider's reasons of sdkd-protocol(7).
extension SDKError {
  /// The delegate denied the user.
  static let delegateDenied = SDKError(
    .provider, .providerDenied, "The delegate says no to this user; its owner decides.")

  /// The delegate is connected, but has not responded in time.
  static let delegateTimedOut = SDKError(
    .provider, .providerTimeout, "The delegate did not answer in time; make it faster or attach it with more timeout.")

  /// The delegate was expected back, but has not attached in time.
  static let delegateAbsent = SDKError(
    .provider, .providerTimeout, "The delegate that was attached has not come back yet; try again.")

  /// Returns the error for any other failure of a delegate.
  static func delegateFailed(_ how: String) -> SDKError {
    SDKError(.provider, .providerFailed, "The delegate \(how); try again.")
  }

  /// The requesting task was cancelled.
  static let delegateNotNeeded = SDKError(
    .limit, .shuttingDown, "The daemon stopped asking the delegate; try again.")

  /// Returns the error for too many delegates of one instance.
  static func tooManyDelegates(_ id: InstanceID, limit: Int) -> SDKError {
    SDKError(
      .limit, .tooManySubscriptions, "\(limit) connections answer for \(id) already; detach one first.", instance: id)
  }

  /// Returns the error for too many instances on one connection.
  static func tooManyAttachments(limit: Int) -> SDKError {
    SDKError(
      .limit, .tooManyInstances,
      "A connection answers for at most \(limit) instances; attach the others on another connection.")
  }
}
