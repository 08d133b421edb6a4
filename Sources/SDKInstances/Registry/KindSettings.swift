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
  /// The vendor's own domains. URLs that come from outside the definition lead only there, unless `[network] allow`
  /// replaces them.
  public let vendorDomains: [String]

  /// A setting that is missing although others need it.
  public struct Missing: Sendable, Hashable {
    /// The missing setting.
    public let setting: String
    /// The reason and what to set, as a sentence.
    public let why: String

    /// Creates the description of a missing setting.
    public init(_ setting: String, _ why: String) {
      self.setting = setting
      self.why = why
    }
  }

  /// Returns the settings that are missing although others need them. An instance works without them, but for the calls
  /// that need one.
  public let missing: @Sendable (_ settings: JSONObject) -> [Missing]

  /// Creates the description. The secret and admin-only settings that all kinds have are added.
  public init(
    schema: JSONSchema, secrets: Set<String> = [], adminOnly: Set<String> = [], urls: Set<String>,
    hiddenURLs: @escaping @Sendable (_ settings: JSONObject) -> [String: String] = { _ in [:] }, backend: Set<String>,
    vendorDomains: [String], missing: @escaping @Sendable (_ settings: JSONObject) -> [Missing] = { _ in [] }
  ) {
    self.schema = schema
    self.secrets = secrets.union(CommonSettings.secrets)
    self.adminOnly = adminOnly.union(CommonSettings.adminOnly)
    self.urls = urls
    self.hiddenURLs = hiddenURLs
    self.backend = backend
    self.vendorDomains = vendorDomains
    self.missing = missing
  }

  /// Returns the rule for URLs that come from outside of these settings.
  ///
  /// - Parameters:
  ///   - hosts: `[network] allow`; `nil` for the vendor's own domains.
  ///   - isOfAdmin: whether an admin set them.
  public func supplied(_ settings: JSONObject, allowing hosts: [String]?, isOfAdmin: Bool) -> SuppliedURLRule {
    SuppliedURLRule(
      domains: hosts ?? vendorDomains, ownURLs: urls.compactMap { settings[$0]?.stringValue }, isOfAdmin: isOfAdmin)
  }
}
