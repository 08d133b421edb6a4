import JSONRPC
import SDKProtocol

/// The last failure of an instance, as lists show it: only while it matters, and with its age.
struct LastError {
  private let reason: String
  private let time: Timestamp?

  /// Reads the failure of an instance. `nil` if there is none, or if it no longer matters.
  ///
  /// While a user is signed in, the refused login of another one does not matter. What keeps the token from being
  /// renewed does.
  init?(of instance: JSON) {
    guard let error = instance["lastError"], let reason = error["reason"]?.stringValue else { return nil }
    let isSignedIn = ["authenticated", "anonymous"].contains(instance["state"]?.stringValue)
    let isAboutRenewal = Reason(rawValue: reason).map { $0.isRetryable || Self.ofProviders.contains($0) } ?? true
    guard !isSignedIn || isAboutRenewal else { return nil }
    self.reason = reason
    time = error["at"]?.stringValue.flatMap { Timestamp($0) }
  }

  private static let ofProviders: Set<Reason> = [
    .noProvider, .providerNotAllowed, .providerOutputInvalid, .providerTokenForOtherUser, .providerDenied,
  ]

  /// Returns the reason and the age, such as `network, 5 min ago`.
  func text(at now: Timestamp) -> String {
    guard let time else { return reason }
    let age = now - time
    return age < 1 ? "\(reason), now" : "\(reason), \(Elapsed.text(seconds: age)) ago"
  }
}
