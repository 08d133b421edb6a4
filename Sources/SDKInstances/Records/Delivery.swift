public import SDKProtocol

/// A cleanup delivery: a message that the vendor must still get, even after the wipe of the identity (`rows.md`, R3).
/// Examples are a revocation, the removal of a push registration and the retry of a logout.
public struct Delivery: Sendable, Hashable, Codable {
  /// The id of the delivery, as `instance.get` lists it.
  public var id: String
  /// The purpose of the delivery: `revoke`, `unregisterPush`, `logout` or another.
  public var purpose: String
  /// The service that the delivery is about; `nil` for kinds without services.
  public var service: String?
  /// The data that the adapter needs to make the delivery, credentials included.
  public var details: [String: Secret]
  /// The time at which the delivery is abandoned, at most 24 hours after its creation.
  public var deadline: Timestamp
  /// Whether the delivery ends the current user's session at the vendor.
  public var endsSession: Bool
  /// Whether the delivery is for a backend that the instance had before, so that its success ends no session here. `nil`
  /// means no.
  public var isOfFormerBackend: Bool?
  /// Whether the delivery is dropped at the next login, because it would then affect another user. `nil` means no.
  public var endsAtSignIn: Bool?
  /// The user that the delivery is about. It is dropped when that user signs in again.
  public var subject: Secret?
  /// The time at which the delivery was created.
  public var createdAt: Timestamp
  /// The number of attempts so far.
  public var attempts: Int
  /// The time of the next attempt.
  public var nextAttemptAt: Timestamp?

  /// The longest lifetime of a delivery, in seconds.
  public static let longest = 86_400.0

  /// Creates a delivery that is due at once and abandoned after 24 hours.
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
  /// Returns the delivery with `service` set, unless it has a service already.
  func of(_ service: String?) -> Delivery {
    var copy = self
    copy.service = copy.service ?? service
    return copy
  }
}

extension Instance.Pending {
  /// Creates a delivery as observers see it: without its credentials.
  init(_ delivery: Delivery) {
    self.init(
      id: delivery.id, purpose: delivery.purpose, service: delivery.service, attempts: delivery.attempts,
      nextAttemptAt: delivery.nextAttemptAt, deadline: delivery.deadline)
  }
}
