import JSONRPC
import SDKInstances
import SDKProtocol

/// An identity as the vendor tells one from another: by its type and all its fields (`vendors.md` 2.3 and 2.4).
/// Absent and empty are the same; nothing is trimmed.
struct SupportIdentity: Sendable, Hashable {
  /// How users authenticate: the identity's type, and what the account is set up for.
  enum Authentication: String, Sendable, Codable, CaseIterable { case anonymous, jwt }

  let type: Authentication
  /// What an anonymous user wants to be called.
  let name: String?
  /// Where an anonymous user can be reached.
  let email: String?
  /// The opaque id of a jwt identity; `nil` while the owner has not supplied it.
  let uniqueId: Secret?
  /// Whether the unique id is the owner's to supply, and to replace (`sdks.md`, S10).
  let isSupplied: Bool

  /// An anonymous identity.
  static func anonymous(name: String? = nil, email: String? = nil) -> SupportIdentity {
    SupportIdentity(
      type: .anonymous, name: name.flatMap { $0.isEmpty ? nil : $0 }, email: email.flatMap { $0.isEmpty ? nil : $0 },
      uniqueId: nil, isSupplied: false)
  }

  /// A jwt identity whose unique id the caller brings.
  static func unique(_ id: Secret) -> SupportIdentity {
    SupportIdentity(type: .jwt, name: nil, email: nil, uniqueId: id, isSupplied: false)
  }

  /// A jwt identity whose unique id the owner supplies.
  static func supplied(_ id: Secret?) -> SupportIdentity {
    SupportIdentity(type: .jwt, name: nil, email: nil, uniqueId: id, isSupplied: true)
  }

  /// Whether the owner must still be asked for the unique id.
  var needsOwner: Bool { isSupplied && uniqueId == nil }

  /// Checks the texts that are kept and shown.
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

  /// Whether the other is the same identity. What the owner supplies may change its unique id.
  func isSame(as other: SupportIdentity) -> Bool {
    guard type == other.type else { return false }
    switch type {
    case .anonymous: return name == other.name && email == other.email
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
  /// Names the installation to the vendor; another one for each identity.
  static let guidKey = "guid"
  /// What the account is set up for, if the vendor was asked.
  static let authenticationKey = "authentication"

  /// The identity that was stored; `nil` for none.
  init?(_ state: [String: Secret]) {
    guard let type = state[Self.typeKey].flatMap({ Authentication(rawValue: $0.reveal()) }) else { return nil }
    self.init(
      type: type, name: state[Self.nameKey]?.reveal(), email: state[Self.emailKey]?.reveal(),
      uniqueId: state[Self.idKey], isSupplied: state[Self.suppliedKey] != nil)
  }

  /// The identity as it is stored, with the guid that names it.
  func state(guid: Secret) -> [String: Secret] {
    var state = [Self.typeKey: Secret(type.rawValue), Self.guidKey: guid]
    state[Self.nameKey] = name.map { Secret($0) }
    state[Self.emailKey] = email.map { Secret($0) }
    state[Self.idKey] = uniqueId
    if isSupplied { state[Self.suppliedKey] = Secret("true") }
    return state
  }
}
