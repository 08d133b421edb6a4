public import SDKProtocol

/// A notification that the vendor must still get, although its identity may be gone (`rows.md`, R3).
/// Examples are a revocation, the removal of a push registration and the retry of a logout.
public struct Delivery: Sendable, Hashable, Codable {
  /// Its name in `instance.get`.
  public var id: String
  /// Its purpose, such as `revoke`, `unregisterPush`, `logout`.
  public var purpose: String
  /// The service that it is about.
  public var service: String?
  /// The data that the adapter needs for it, credentials included.
  public var details: [String: Secret]
  /// The time at which it is abandoned, at most 24 hours after it was made.
  public var deadline: Timestamp
  /// Whether the present user's session ends with it.
  public var endsSession: Bool
  /// Whether it is dropped at the next sign-in, because it would then affect another user. `nil` means no.
  public var endsAtSignIn: Bool?
  /// The user that it concerns. It is dropped when that user signs in again.
  public var subject: Secret?
  /// The time at which it was made.
  public var createdAt: Timestamp
  /// The number of attempts so far.
  public var attempts: Int
  /// The time of the next attempt.
  public var nextAttemptAt: Timestamp?

  /// The longest lifetime of a delivery, in seconds.
  public static let longest = 86_400.0

  /// A delivery that is due at once and abandoned after 24 hours.
  public init(
    _ purpose: String, service: String? = nil, details: [String: Secret], now: Timestamp, endsSession: Bool = false,
    subject: Secret? = nil
  ) {
    id = "d-\(RandomUUID.make())"
    self.purpose = purpose
    self.service = service
    self.details = details
    deadline = now + Self.longest
    createdAt = now
    self.endsSession = endsSession
    self.subject = subject
    attempts = 0
  }
}

extension Delivery {
  /// Returns the delivery as one of a service, unless it has a service already.
  func of(_ service: String?) -> Delivery {
    var copy = self
    copy.service = copy.service ?? service
    return copy
  }
}

extension Instance.Pending {
  /// A delivery as observers see it: without its credentials.
  init(_ delivery: Delivery) {
    self.init(
      id: delivery.id, purpose: delivery.purpose, service: delivery.service, attempts: delivery.attempts,
      nextAttemptAt: delivery.nextAttemptAt, deadline: delivery.deadline)
  }
}
