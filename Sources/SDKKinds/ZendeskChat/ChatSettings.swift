import JSONRPC
import SDKInstances
import SDKProtocol

/// The settings of a Chat instance (sdkd.toml(5)).
struct ChatSettings: RPCValue, Hashable {
  enum Fallback: String, Codable, CaseIterable { case anonymous, fail }

  var accountKey: String
  var appId: String?
  var idURL: String
  var mediatorURL: String?
  var fallback: Fallback
  var externalIdMax: Int
  /// The settings that all kinds have in common.
  var common: CommonSettings

  enum CodingKeys: String, CodingKey {
    case accountKey = "account_key"
    case appId = "app_id"
    case idURL = "id_url"
    case mediatorURL = "mediator_url"
    case externalIdMax = "external_id_max"
    case fallback
  }

  /// The default URL for the exchange of JWTs for id tokens.
  static let vendorURL = "https://id.zopim.com"

  static let jsonSchema = JSONSchema.object(
    [
      .required("account_key", .string(), "the account; it identifies and is no secret"),
      .optional("app_id", .string(), "the app in the account"),
      .optional("id_url", .url, "where JWTs are exchanged; \(vendorURL) unless given"),
      .optional(
        "mediator_url", .url,
        "the chat socket; with it session.open registers the visitor and so learns of a ban"),
      .optional(
        "fallback", .enumeration(Fallback.allCases.map(\.rawValue)),
        "what a session is when authentication fails: that of an anonymous visitor, unless given, or the error"),
      .optional(
        "external_id_max", .integer(minimum: 1, maximum: 1000),
        "the most characters that an external_id may have; 200 unless given"),
    ] + CommonSettings.members)

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    accountKey = try container.decode(String.self, forKey: .accountKey)
    appId = try container.decodeIfPresent(String.self, forKey: .appId)
    idURL = try container.decodeIfPresent(String.self, forKey: .idURL) ?? Self.vendorURL
    mediatorURL = try container.decodeIfPresent(String.self, forKey: .mediatorURL)
    fallback = try container.decodeIfPresent(Fallback.self, forKey: .fallback) ?? .anonymous
    externalIdMax = try container.decodeIfPresent(Int.self, forKey: .externalIdMax) ?? 200
    common = try CommonSettings(from: decoder, mode: .lazy)
    try check()
  }

  private mutating func check() throws {
    try URLRule.check(idURL, setting: "id_url")
    if let mediatorURL { try URLRule.check(mediatorURL, setting: "mediator_url", secure: "wss", plain: "ws") }
    while idURL.hasSuffix("/") { idURL.removeLast() }
    for (value, setting) in [(accountKey, "account_key"), (appId ?? "-", "app_id")] {
      guard !(1...128).contains(value.utf8.count) || !value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        continue
      }
      throw SDKError(
        .local, .invalidAuthParameters,
        "The setting \(setting) must have 1 to 128 printable characters without spaces.", member: setting)
    }
  }
}
