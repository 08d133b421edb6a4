import JSONRPC
import SDKInstances
import SDKProtocol

/// An identity with everything by which the vendor distinguishes identities: type and fields. Absent and empty fields are equal, and texts are not trimmed.
struct SupportIdentity: Sendable, Hashable {
  /// The authentication type of an identity, and of the account's users.
  enum Authentication: String, Sendable, Codable, DescribedEnumeration {
    case anonymous, jwt

    static let jsonSchema = schema(named: "SupportIdentityType")
    var meaning: String {
      switch self {
      case .anonymous: "A user with a name and an e-mail address that nobody has checked, or without."
      case .jwt: "A user with a unique id, for which the customer's backend makes a JWT."
      }
    }
  }

  let type: Authentication
  /// The name of an anonymous user.
  let name: String?
  /// The e-mail address of an anonymous user.
  let email: String?
  /// The opaque id of a jwt identity; `nil` until the owner has supplied it.
  let uniqueId: Secret?
  /// Whether the owner supplies the unique id and may replace it (`rows.md`, S10).
  let isSupplied: Bool

  /// Returns an anonymous identity.
  static func anonymous(name: String? = nil, email: String? = nil) -> SupportIdentity {
    SupportIdentity(
      type: .anonymous, name: name.flatMap { $0.isEmpty ? nil : $0 }, email: email.flatMap { $0.isEmpty ? nil : $0 },
      uniqueId: nil, isSupplied: false)
  }

  /// Returns a jwt identity whose unique id the caller gives.
  static func unique(_ id: Secret) -> SupportIdentity {
    SupportIdentity(type: .jwt, name: nil, email: nil, uniqueId: id, isSupplied: false)
  }

  /// Returns a jwt identity whose unique id the owner supplies.
  static func supplied(_ id: Secret?) -> SupportIdentity {
    SupportIdentity(type: .jwt, name: nil, email: nil, uniqueId: id, isSupplied: true)
  }

  /// Whether the owner must still supply the unique id.
  var needsOwner: Bool { isSupplied && uniqueId == nil }

  /// Checks the sizes of name and e-mail address.
  ///
  /// - Throws: `invalidName`, `invalidEmail`.
  func checkLengths() throws(SDKError) {
    if let name, !TextLimits.isName(name) {
      throw SDKError(
        .local, .invalidName, "The name may have at most \(TextLimits.name) bytes.", member: "identity.name")
    }
    if let email, !TextLimits.isName(email) {
      throw SDKError(
        .local, .invalidEmail, "The e-mail address may have at most \(TextLimits.name) bytes.",
        member: "identity.email")
    }
  }

  /// Whether both are the same identity. A unique id that the owner supplies may differ.
  func isSame(as other: SupportIdentity) -> Bool {
    guard type == other.type else { return false }
    switch type {
    case .anonymous: return name.hasSameBytes(as: other.name) && email.hasSameBytes(as: other.email)
    case .jwt: return isSupplied && other.isSupplied || uniqueId != nil && uniqueId == other.uniqueId
    }
  }
}

extension SupportIdentity {
  private static let typeKey = "type"
  private static let nameKey = "name"
  private static let emailKey = "email"
  private static let idKey = "unique_id"
  private static let suppliedKey = "supplied"
  /// The key of the guid that names the installation to the vendor. Each identity has another guid.
  static let guidKey = "guid"
  /// The key of the account's authentication type, if it was read from the vendor.
  static let authenticationKey = "authentication"

  /// Reads a stored identity; `nil` when there is none.
  init?(_ state: [String: Secret]) {
    guard let type = state[Self.typeKey].flatMap({ Authentication(rawValue: $0.reveal()) }) else { return nil }
    self.init(
      type: type, name: state[Self.nameKey]?.reveal(), email: state[Self.emailKey]?.reveal(),
      uniqueId: state[Self.idKey], isSupplied: state[Self.suppliedKey] != nil)
  }

  /// Returns the values to store, with the identity's guid.
  func state(guid: Secret) -> [String: Secret] {
    var state = [Self.typeKey: Secret(type.rawValue), Self.guidKey: guid]
    state[Self.nameKey] = name.map { Secret($0) }
    state[Self.emailKey] = email.map { Secret($0) }
    state[Self.idKey] = uniqueId
    if isSupplied { state[Self.suppliedKey] = Secret("true") }
    return state
  }
}
