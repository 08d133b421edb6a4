public import SDKProtocol

/// A push registration of an instance's user at the vendor.
public struct PushRecord: Sendable, Hashable, Codable {
  /// The daemon's id of the registration.
  public var id: String
  /// The service that it belongs to.
  public var service: String?
  /// The device's address with the push provider: a secret.
  public var address: Secret
  /// `apns`, `fcm`, `other`.
  public var type: String
  /// The device's language.
  public var locale: String?
  /// The vendor's id of the registration.
  public var vendorId: String?
  /// The user that it belongs to.
  public var user: User
  /// The subject of the user, which is compared to recognize the same user.
  public var subject: Secret?
  /// Whether it remains at the vendor although its user is gone from the instance.
  public var orphaned: Bool
  /// The time at which it was made.
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
  /// Whether both are one registration at the vendor.
  func isSameDevice(as other: PushRecord) -> Bool {
    vendorId == nil && other.vendorId == nil ? address == other.address : vendorId == other.vendorId
  }
}

/// The rules for the end of a kind's push registrations.
public struct PushRules: Sendable, Hashable {
  /// Whether a new registration replaces the service's former one.
  public var keepsOne = false
  /// Whether the vendor itself replaces the former registration by a new one, so that it needs no removal.
  public var overwrites = false
  /// Whether registrations stay at the vendor, and are listed as orphaned, when their user is wiped without the
  /// vendor's knowledge. Otherwise they are removed there, already or by a delivery.
  public var outliveUser = false

  /// Rules.
  public init(keepsOne: Bool = false, overwrites: Bool = false, outliveUser: Bool = false) {
    self.keepsOne = keepsOne
    self.overwrites = overwrites
    self.outliveUser = outliveUser
  }
}
