public import SDKProtocol

/// Something that the vendor must still be told although the identity it is about may be gone: a revocation, the
/// removal of a push registration, a logout that failed (`sdks.md`, common rule 3).
public struct Delivery: Sendable, Hashable, Codable {
  /// Its name in `instance.get`.
  public var id: String
  /// What it does, such as `revoke`, `unregisterPush`, `logout`.
  public var purpose: String
  /// The service that it is about.
  public var service: String?
  /// What the adapter needs for it, credentials included.
  public var details: [String: Secret]
  /// When it is given up; at most 24 hours after it was made.
  public var deadline: Timestamp
  /// Whether the present user's session ends with it.
  public var endsSession: Bool
  /// Whether it is void once somebody signs in: what it would undo then belongs to somebody else. `nil` for no.
  public var endsAtSignIn: Bool?
  /// Whose affair it is; it is dropped when that user signs in again.
  public var subject: Secret?
  /// When it was made.
  public var createdAt: Timestamp
  /// How often it was tried.
  public var attempts: Int
  /// When it is tried again.
  public var nextAttemptAt: Timestamp?

  /// The longest that a delivery may take, in seconds.
  public static let longest = 86_400.0

  /// A delivery, due at once and given up after 24 hours.
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
  /// The delivery as one of a service.
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
