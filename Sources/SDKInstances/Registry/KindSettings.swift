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

  /// A fault of a setting with which an instance works, but for the calls that use the setting. Stored instances keep
  /// such faults, and new definitions are refused.
  public struct Fault: Sendable, Hashable {
    /// The setting.
    public let setting: String
    /// The fault and its remedy, as a sentence without the subject.
    public let sentence: String

    /// Creates the description of a fault.
    public init(_ setting: String, _ sentence: String) {
      self.setting = setting
      self.sentence = sentence
    }
  }

  /// The settings with URLs to which paths are appended.
  private let bases: Set<String>
  private let ownFaults: @Sendable (_ settings: JSONObject) -> [Fault]

  /// Returns the faults of settings that are otherwise well-formed.
  public func faults(_ settings: JSONObject) -> [Fault] {
    let withQuery = bases.sorted().filter { name in
      settings[name]?.stringValue.map { $0.utf8.contains { "?#".utf8.contains($0) } } ?? false
    }
    return ownFaults(settings)
      + withQuery.map { Fault($0, "must have no query and no fragment: paths are appended to it.") }
  }

  /// Creates the description. The secret and admin-only settings that all kinds have are added.
  public init(
    schema: JSONSchema, secrets: Set<String> = [], adminOnly: Set<String> = [], urls: Set<String>,
    bases: Set<String> = [],
    hiddenURLs: @escaping @Sendable (_ settings: JSONObject) -> [String: String] = { _ in [:] }, backend: Set<String>,
    vendorDomains: [String], faults: @escaping @Sendable (_ settings: JSONObject) -> [Fault] = { _ in [] }
  ) {
    self.schema = schema
    self.secrets = secrets.union(CommonSettings.secrets)
    self.adminOnly = adminOnly.union(CommonSettings.adminOnly)
    self.urls = urls
    self.hiddenURLs = hiddenURLs
    self.backend = backend
    self.vendorDomains = vendorDomains
    self.bases = bases
    ownFaults = faults
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
