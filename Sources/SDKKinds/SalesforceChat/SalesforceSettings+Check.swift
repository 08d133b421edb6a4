import JSONRPC
import SDKInstances
import SDKProtocol

extension SalesforceSettings {
  /// Checks the settings, and brings URLs into one form.
  mutating func check() throws(SDKError) {
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
