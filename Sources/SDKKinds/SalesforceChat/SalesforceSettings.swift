import JSONRPC
import SDKInstances
import SDKProtocol

/// The settings of a Service Chat instance (sdkd.toml(5)).
struct SalesforceSettings: RPCValue, Hashable {
  var clientId: String
  var clientSecret: Secret?
  var clientSecretFile: String?
  var loginURL: String?
  var services: [String]
  var apiVersion: String
  /// The settings that all kinds have in common.
  var common: CommonSettings

  /// The service types that the vendor's guide names.
  static let allServices = ["cases", "knowledge", "chat"]

  enum CodingKeys: String, CodingKey {
    case clientId = "client_id"
    case clientSecret = "client_secret"
    case clientSecretFile = "client_secret_file"
    case loginURL = "login_url"
    case services
    case apiVersion = "api_version"
  }

  static let jsonSchema = JSONSchema.object(
    [
      .required("client_id", .string(), "the connected app's consumer key"),
      .optional("client_secret", .string(), "the connected app's secret, if it has one"),
      .optional("client_secret_file", .string(called: "path"), "a file with that secret; admin only"),
      .optional("login_url", .url, "where tokens are refreshed and revoked; needed with client_secret"),
      .optional("services", .array(.enumeration(allServices)), "the service types; all unless given"),
      .optional("api_version", .string(), "the version of the REST API; v59.0 unless given"),
    ] + CommonSettings.members)

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    clientId = try container.decode(String.self, forKey: .clientId)
    clientSecret = try container.decodeIfPresent(Secret.self, forKey: .clientSecret)
    clientSecretFile = try container.decodeIfPresent(String.self, forKey: .clientSecretFile)
    loginURL = try container.decodeIfPresent(String.self, forKey: .loginURL)
    services = try container.decodeIfPresent([String].self, forKey: .services) ?? Self.allServices
    apiVersion = try container.decodeIfPresent(String.self, forKey: .apiVersion) ?? "v59.0"
    common = try CommonSettings(from: decoder, mode: .lazy)
    try check()
  }

  private mutating func check() throws(SDKError) {
    func refuse(_ setting: String, _ sentence: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The setting \(setting) \(sentence)", member: setting)
    }
    guard SalesforceText.isIdentifier(clientId) else {
      throw refuse("client_id", "must be the connected app's consumer key: printable, without spaces.")
    }
    if let clientSecret {
      guard SalesforceText.isToken(clientSecret) else {
        throw refuse("client_secret", "must be the connected app's secret: printable, without spaces.")
      }
      if clientSecretFile != nil { throw refuse("client_secret_file", "can't be given together with client_secret.") }
    }
    if let clientSecretFile, !clientSecretFile.hasPrefix("/") {
      throw refuse("client_secret_file", "must be an absolute path.")
    }
    if let loginURL {
      try URLRule.check(loginURL, setting: "login_url")
      self.loginURL = SalesforceText.base(loginURL)
      if self.loginURL == nil { throw refuse("login_url", "must be a URL without query and fragment.") }
    }
    guard !services.isEmpty, Set(services).count == services.count else {
      throw refuse("services", "must name at least one service, each once.")
    }
    guard Self.isVersion(apiVersion) else { throw refuse("api_version", "must look like v59.0.") }
  }

  /// Whether a text is a version such as `v59.0`, which is inserted into paths.
  private static func isVersion(_ text: String) -> Bool {
    let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    return text.hasPrefix("v") && parts.count == 2
      && parts.allSatisfy { (1...3).contains($0.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
  }
}
