import JSONRPC
import SDKInstances
import SDKProtocol

extension SupportSettings {
  /// Checks the settings, and brings URLs into one form.
  mutating func check() throws(SDKError) {
    try URLRule.check(baseURL, setting: "base_url")
    while baseURL.hasSuffix("/") { baseURL.removeLast() }
    for (value, setting) in [(appId, "app_id"), (clientId, "client_id")] {
      try IdentifierRule.check(value, setting: setting)
    }
  }
}
