import JSONRPC
import SDKInstances
import SDKProtocol

extension ChatSettings {
  /// Checks the settings, and brings URLs into one form.
  mutating func check() throws {
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
