public import JSONRPC

/// The description of a kind's settings: their schema, and which of them need special care.
public struct KindSettings: Sendable {
  /// The JSON schema of the settings.
  public let schema: JSONSchema
  /// The settings whose values are shown to no caller.
  public let secrets: Set<String>
  /// The settings that name a file on the daemon's machine or a proxy. Only admins may set them.
  public let adminOnly: Set<String>
  /// The settings that hold a URL.
  public let urls: Set<String>
  /// Returns the URLs that settings hold in another form, such as a channel key, by the setting's name.
  public let hiddenURLs: @Sendable (_ settings: JSONObject) -> [String: String]
  /// The settings that identify the vendor's backend. When one of them changes, the present identity is wiped.
  public let backend: Set<String>
  /// The vendor's own domains. Callers other than admins may use only these in URLs, unless `[network] allow` replaces
  /// them.
  public let vendorDomains: [String]

  /// Creates the description. The secret and admin-only settings that all kinds have are added.
  public init(
    schema: JSONSchema, secrets: Set<String> = [], adminOnly: Set<String> = [], urls: Set<String>,
    hiddenURLs: @escaping @Sendable (_ settings: JSONObject) -> [String: String] = { _ in [:] }, backend: Set<String>,
    vendorDomains: [String]
  ) {
    self.schema = schema
    self.secrets = secrets.union(CommonSettings.secrets)
    self.adminOnly = adminOnly.union(CommonSettings.adminOnly)
    self.urls = urls
    self.hiddenURLs = hiddenURLs
    self.backend = backend
    self.vendorDomains = vendorDomains
  }
}
