import JSONRPC
import SDKInstances
import SDKProtocol

extension MessagingInAppSettings {
  /// Checks the settings, and brings them into one form: the members of `configuration` become settings, and URLs end
  /// without a slash.
  mutating func check() throws {
    try readConfiguration()
    for (value, setting) in [(baseURL, "base_url"), (orgId, "org_id"), (developerName, "developer_name")]
    where value == nil {
      throw Self.refusal(setting, "is missing; give base_url, org_id and developer_name, or configuration.")
    }
    if let baseURL { try URLRule.check(baseURL, setting: "base_url") }
    while baseURL?.hasSuffix("/") == true { baseURL?.removeLast() }
    if let orgId, ![15, 18].contains(orgId.utf8.count) || !orgId.utf8.allSatisfy(Self.isAlphanumeric) {
      throw Self.refusal("org_id", "must have 15 or 18 letters and digits.")
    }
    if let developerName { try IdentifierRule.check(developerName, setting: "developer_name") }
    for (value, setting) in [
      (capabilitiesVersion, "capabilities_version"), (platform, "platform"), (appName, "app_name"),
      (clientVersion, "client_version"), (deviceType, "device_type"), (deviceId, "device_id"),
    ] {
      if let value { try IdentifierRule.check(value, setting: setting) }
    }
    deviceId = deviceId?.lowercased()
    if subjectPattern?.isEmpty == true { throw Self.refusal("subject_pattern", "must not be empty.") }
    if let realtimePath, !Self.isPath(realtimePath) {
      throw Self.refusal("realtime_path", "must be a path that begins with a slash.")
    }
  }

  /// Takes the URL and the names that are not given from the deployment's configuration file.
  private mutating func readConfiguration() throws(SDKError) {
    guard let configuration else { return }
    func value(_ name: String) throws(SDKError) -> String {
      guard let text = configuration[name]?.stringValue, !text.isEmpty else {
        throw Self.refusal("configuration.\(name)", "is missing; copy the deployment's configuration file again.")
      }
      return text
    }
    if baseURL == nil { baseURL = try value("Url") }
    if orgId == nil { orgId = try value("OrganizationId") }
    if developerName == nil { developerName = try value("DeveloperName") }
  }

  /// Returns the URL in a deployment's configuration file.
  static func url(ofConfiguration configuration: JSON?) -> String? { configuration?["Url"]?.stringValue }

  private static func refusal(_ setting: String, _ sentence: String) -> SDKError {
    SDKError(.local, .authenticationSettingsError, "The setting \(setting) \(sentence)", member: setting)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  private static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/") && text.utf8.count <= 256
      && text.utf8.allSatisfy { isAlphanumeric($0) || "/-._~".utf8.contains($0) }
  }
}

/// The settings with their defaults.
extension MessagingInAppSettings {
  var base: String { baseURL ?? "" }
  /// The organisation's id as the header `X-Org-Id` carries it.
  var shortOrgId: String { String((orgId ?? "").prefix(15)) }
  var generation: Generation { api ?? .v2 }
  var isVerified: Bool { userVerification != .off }
  /// Whether another guest takes the place of one whom the vendor no longer accepts.
  var replacesGuests: Bool { guestEnd.map { $0 == .new } ?? (generation == .v2) }
  var sendsDeviceIdOfGuests: Bool {
    switch sendDeviceId {
    case .always: true
    case .never: false
    case .auto, nil: generation == .v1
    }
  }
  var verifiedPattern: String { subjectPattern ?? "/AUTH/" }
  var keepsIdentityToken: Bool { keepIdentityToken ?? true }
  var realtimeURL: String { base + (realtimePath ?? "/eventrouter/v1/sse") }
}
