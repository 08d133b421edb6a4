import JSONRPC
import SDKInstances
import SDKProtocol

/// The settings of a Support instance (sdkd.toml(5)).
struct SupportSettings: RPCValue, Hashable {
  var baseURL: String
  var appId: String
  var clientId: String
  var authentication: SupportIdentity.Authentication?
  var coppa: Bool?
  var strictIdentifiers: Bool?
  var strictVendorWipe: Bool?
  /// The settings that all kinds have in common.
  var common: CommonSettings

  enum CodingKeys: String, CodingKey {
    case baseURL = "base_url"
    case appId = "app_id"
    case clientId = "client_id"
    case authentication, coppa
    case strictIdentifiers = "strict_identifiers"
    case strictVendorWipe = "strict_vendor_wipe"
  }

  static let jsonSchema = JSONSchema.object(
    [
      .required("base_url", .url, "where the account is, such as https://acme.zendesk.com"),
      .required("app_id", .string(), "the app's id in the account"),
      .required("client_id", .string(), "the app's OAuth client id"),
      .optional(
        "authentication", SupportIdentity.Authentication.jsonSchema,
        "how the account's users authenticate; read from the vendor unless given"),
      .optional("coppa", .boolean, "refuse names and e-mail addresses of anonymous users"),
      .optional("strict_identifiers", .boolean, "refuse unique ids that are easy to guess"),
      .optional("strict_vendor_wipe", .boolean, "wipe the identity that the vendor refuses, as its SDK does"),
    ] + CommonSettings.members)

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    baseURL = try container.decode(String.self, forKey: .baseURL)
    appId = try container.decode(String.self, forKey: .appId)
    clientId = try container.decode(String.self, forKey: .clientId)
    authentication = try container.decodeIfPresent(SupportIdentity.Authentication.self, forKey: .authentication)
    coppa = try container.decodeIfPresent(Bool.self, forKey: .coppa)
    strictIdentifiers = try container.decodeIfPresent(Bool.self, forKey: .strictIdentifiers)
    strictVendorWipe = try container.decodeIfPresent(Bool.self, forKey: .strictVendorWipe)
    common = try CommonSettings(from: decoder, mode: .lazy)
    try check()
  }

  private mutating func check() throws(SDKError) {
    try URLRule.check(baseURL, setting: "base_url")
    while baseURL.hasSuffix("/") { baseURL.removeLast() }
    for (value, setting) in [(appId, "app_id"), (clientId, "client_id")] {
      try IdentifierRule.check(value, setting: setting)
    }
  }
}
