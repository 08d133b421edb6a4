import JSONRPC
import SDKInstances
import SDKProtocol

/// The settings of a Chat Center instance (sdkd.toml(5)).
struct EdnaSettings: RPCValue, Hashable {
  /// The treatment of the former user's session at the vendor when another user is authorised.
  enum OnSwitch: String, Codable, CaseIterable { case keep, logout }

  var restURL: String
  var wsURL: String
  var providerUid: String?
  var appPackage: String?
  var appMarker: String?
  var strictIdentifiers: Bool?
  var identifierPublicKey: String?
  var identifierEncryption: EdnaCipher.Scheme?
  var onSwitch: OnSwitch?
  var retryLogout: Bool?
  var persistCredentials: Bool?
  /// The settings that all kinds have in common.
  var common: CommonSettings

  enum CodingKeys: String, CodingKey {
    case restURL = "rest_url"
    case wsURL = "ws_url"
    case providerUid = "provider_uid"
    case appPackage = "app_package"
    case appMarker = "app_marker"
    case strictIdentifiers = "strict_identifiers"
    case identifierPublicKey = "identifier_public_key"
    case identifierEncryption = "identifier_encryption"
    case onSwitch = "on_switch"
    case retryLogout = "retry_logout"
    case persistCredentials = "persist_credentials"
  }

  static let jsonSchema = JSONSchema.object(
    [
      .required("rest_url", .url, "where the installation's REST API is"),
      .required("ws_url", .url, "where its WebSocket is"),
      .optional("provider_uid", .string(), "the provider's id, for installations that require one"),
      .optional("app_package", .string(), "the app's name to the vendor; sdkd unless given"),
      .optional("app_marker", .string(), "the app's marker, for installations with several apps"),
      .optional(
        "strict_identifiers", .boolean, "refuse identifiers that look like a phone number or an e-mail address"),
      .optional("identifier_public_key", .string(called: "PEM"), "encrypt identifiers with this RSA key"),
      .optional(
        "identifier_encryption", .enumeration(EdnaCipher.Scheme.allCases.map(\.rawValue)),
        "how; rsa-oaep-sha256 unless given"),
      .optional(
        "on_switch", .enumeration(OnSwitch.allCases.map(\.rawValue)),
        "what becomes of the former user's session at the vendor when another user is authorised; keep unless given"),
      .optional("retry_logout", .boolean, "try a logout that failed again, across restarts"),
      .optional("persist_credentials", .boolean, "stay signed in across restarts; true unless given"),
    ] + CommonSettings.members)

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    restURL = try container.decode(String.self, forKey: .restURL)
    wsURL = try container.decode(String.self, forKey: .wsURL)
    providerUid = try container.decodeIfPresent(String.self, forKey: .providerUid)
    appPackage = try container.decodeIfPresent(String.self, forKey: .appPackage)
    appMarker = try container.decodeIfPresent(String.self, forKey: .appMarker)
    strictIdentifiers = try container.decodeIfPresent(Bool.self, forKey: .strictIdentifiers)
    identifierPublicKey = try container.decodeIfPresent(String.self, forKey: .identifierPublicKey)
    identifierEncryption = try container.decodeIfPresent(EdnaCipher.Scheme.self, forKey: .identifierEncryption)
    onSwitch = try container.decodeIfPresent(OnSwitch.self, forKey: .onSwitch)
    retryLogout = try container.decodeIfPresent(Bool.self, forKey: .retryLogout)
    persistCredentials = try container.decodeIfPresent(Bool.self, forKey: .persistCredentials)
    common = try CommonSettings(from: decoder, mode: .lazy)
    try check()
  }

  private mutating func check() throws(SDKError) {
    try URLRule.check(restURL, setting: "rest_url")
    try URLRule.check(wsURL, setting: "ws_url", secure: "wss", plain: "ws")
    while restURL.hasSuffix("/") { restURL.removeLast() }
    for (text, setting) in [(providerUid, "provider_uid"), (appPackage, "app_package"), (appMarker, "app_marker")] {
      guard let text, !(1...256).contains(text.utf8.count) else { continue }
      throw Self.mistake("must have 1 to 256 bytes.", setting)
    }
    if identifierEncryption != nil, identifierPublicKey == nil {
      throw Self.mistake("is of use with identifier_public_key only; give the key too.", "identifier_encryption")
    }
    if let identifierPublicKey, EdnaCipher(pem: identifierPublicKey, scheme: .oaepSHA256) == nil {
      throw Self.mistake("must be an RSA public key of 2048 bits or more in PEM.", "identifier_public_key")
    }
    if retryLogout == true, persistCredentials == false {
      throw Self.mistake(
        "keeps the user's credentials until it has succeeded; set persist_credentials.", "retry_logout")
    }
  }

  private static func mistake(_ sentence: String, _ setting: String) -> SDKError {
    SDKError(.local, .invalidAuthParameters, "The setting \(setting) \(sentence)", member: setting)
  }

  /// The cipher of identifiers; `nil` when they are sent unencrypted.
  var cipher: EdnaCipher? {
    identifierPublicKey.flatMap { EdnaCipher(pem: $0, scheme: identifierEncryption ?? .oaepSHA256) }
  }
}
