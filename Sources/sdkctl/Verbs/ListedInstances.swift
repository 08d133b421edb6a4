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

/// The instances as `list --watch` showed them last. One change has several events, such as those of a logout, and is
/// shown once.
struct ShownInstances {
  /// The number of instances from which all are forgotten. Ids of deleted instances would otherwise add up.
  private static let limit = 20_000

  private var last: [String: JSON] = [:]

  /// Forgets an instance that no longer matches: when it does again, it is shown.
  mutating func forget(_ id: InstanceID) { last[id.name] = nil }

  /// Records an instance, and returns whether it differs from what was shown last.
  ///
  /// - Parameter isRow: whether people see the instance, for whom a difference must be one of the row.
  mutating func takes(_ instance: JSON, isRow: Bool, now: Timestamp) -> Bool {
    let id = instance["instance"]?.stringValue ?? ""
    if last.count >= Self.limit { last = [:] }
    let former = last.updateValue(instance, forKey: id)
    guard let former, former != instance else { return former == nil }
    func row(_ instance: JSON) -> String { ListVerb.table([instance], now: now).text(hasColour: false) }
    return !isRow || row(former) != row(instance)
  }
}
