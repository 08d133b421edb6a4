public import SDKProtocol

/// A push registration of an instance's user at the vendor.
public struct PushRecord: Sendable, Hashable, Codable {
  /// Our id.
  public var id: String
  /// The service that it belongs to.
  public var service: String?
  /// The device's address with the push provider: a secret.
  public var address: Secret
  /// `apns`, `fcm`, `other`.
  public var type: String
  /// The device's language.
  public var locale: String?
  /// What the vendor calls it.
  public var vendorId: String?
  /// Whose it is.
  public var user: User
  /// Names the user, for telling whether somebody is the same one.
  public var subject: Secret?
  /// Whether it is still at the vendor although its user is gone from here.
  public var orphaned: Bool
  /// When it was made.
  public var createdAt: Timestamp

  /// A registration.
  public init(
    id: String, service: String?, address: Secret, type: String, locale: String?, vendorId: String? = nil, user: User,
    subject: Secret?, orphaned: Bool = false, createdAt: Timestamp
  ) {
    self.id = id
    self.service = service
    self.address = address
    self.type = type
    self.locale = locale
    self.vendorId = vendorId
    self.user = user
    self.subject = subject
    self.orphaned = orphaned
    self.createdAt = createdAt
  }
}

extension PushRecord {
  /// Whether the vendor has one registration for both.
  func isSameDevice(as other: PushRecord) -> Bool {
    vendorId == nil && other.vendorId == nil ? address == other.address : vendorId == other.vendorId
  }
}

/// What becomes of push registrations when their user goes.
public enum PushFarewell: Sendable, Hashable {
  /// They are gone at the vendor, or a delivery removes them there.
  case removed
  /// They stay at the vendor and are listed as orphaned.
  case orphaned
}
