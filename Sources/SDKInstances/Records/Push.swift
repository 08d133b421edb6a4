public import SDKProtocol

/// A push registration of an instance's user at the vendor.
public struct PushRecord: Sendable, Hashable, Codable {
  /// The daemon's id of the registration.
  public var id: String
  /// The service that the registration belongs to; `nil` for kinds without services.
  public var service: String?
  /// The device's address with the push provider: a secret.
  public var address: Secret
  /// The type of the push service: `apns`, `fcm` or `other`.
  public var type: String
  /// The device's language.
  public var locale: String?
  /// The vendor's id of the registration.
  public var vendorId: String?
  /// The user that the registration belongs to.
  public var user: User
  /// The text that identifies the user (`IdentityRecord.subject`), by which the same user is recognized.
  public var subject: Secret?
  /// Whether the registration still exists at the vendor although its user was removed from the instance.
  public var orphaned = false
  /// The time at which the registration was created.
  public var createdAt: Timestamp
}

extension PushRecord {
  /// Whether both are the same registration at the vendor. Their vendor ids are compared, or their addresses if neither
  /// has a vendor id.
  func isSameDevice(as other: PushRecord) -> Bool {
    vendorId == nil && other.vendorId == nil ? address == other.address : vendorId == other.vendorId
  }

  /// Whether both are registrations of the same device for the same user, with the same details.
  func isSame(as other: PushRecord) -> Bool {
    address == other.address && type == other.type && locale == other.locale && subject == other.subject
  }
}

/// The rules for the end of a kind's push registrations.
public struct PushRules: Sendable, Hashable {
  /// Whether a service has at most one registration, so that a new one replaces it.
  public var keepsOne = false
  /// Whether the vendor itself replaces the former registration by a new one, so that it needs no removal.
  public var overwrites = false
  /// Whether a device that is registered for the user already is not sent to the vendor again.
  public var skipsKnown = false
  /// Whether registrations stay at the vendor, and are listed as orphaned, when their user is wiped without the vendor
  /// being notified. Otherwise they no longer exist at the vendor, or a cleanup delivery removes them there.
  public var outliveUser = false

  /// Creates rules.
  public init(
    keepsOne: Bool = false, overwrites: Bool = false, skipsKnown: Bool = false, outliveUser: Bool = false
  ) {
    self.keepsOne = keepsOne
    self.overwrites = overwrites
    self.skipsKnown = skipsKnown
    self.outliveUser = outliveUser
  }
}
