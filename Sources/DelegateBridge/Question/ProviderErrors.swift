public import SDKProtocol

/// The provider's reasons of sdkd-protocol(7), each with a sentence that states what happened and what to do next.
extension SDKError {
  /// The error when no provider is configured and no delegate is attached.
  static let noProvider = SDKError(
    .provider, .noProvider,
    "No token provider is configured and no delegate is attached; set provider.command or provider.unit, or log in again."
  )

  /// The error when every delegate and provider passed the question on.
  static let allDeferred = SDKError(
    .provider, .noProvider, "Everybody who was asked passed the question on; log in again.")

  /// Returns the error of a provider that refused the user.
  static func denied(_ how: String) -> SDKError {
    SDKError(.provider, .providerDenied, "The token provider denied this user (\(how)); its owner decides.")
  }

  /// The error of a `provider.command` where it is not allowed: the command would run as the daemon's user, which can
  /// read all of the daemon's state.
  public static let commandNeedsSameUid = SDKError(
    .provider, .providerNotAllowed,
    "A provider.command would run with the daemon's own user; use provider.unit, or allow it with same_uid = true in [bridge].",
    member: "provider.command")

  /// Returns the error of a question while the breaker is open, because earlier runs failed.
  static func breakerOpen(retryAfter: Duration) -> SDKError {
    SDKError(
      .provider, .providerBackoff,
      "The token provider failed before and is not run yet; wait. With the role control, call token.refresh to try at once.",
      retryAfter: retryAfter / .seconds(1))
  }

  /// Returns the error of a question that got no slot, because other runs are in progress.
  static func providersBusy(_ why: String, retryAfter: Double) -> SDKError {
    SDKError(.provider, .providerBackoff, "\(why); try again later.", retryAfter: retryAfter)
  }

  /// The error when the question's deadline passed before the provider could run.
  static let tooLate = SDKError(
    .provider, .providerTimeout, "The time for an answer was over before the token provider could run; try again.")

  /// The error when the calling task was cancelled.
  static let noLongerAsked = SDKError(
    .limit, .shuttingDown, "The daemon stopped asking the token provider; try again.")
}
