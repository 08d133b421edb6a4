import JSONRPC
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MessagingSettings {
  /// Checks the settings, and brings URLs into one form.
  mutating func check() throws {
    for (url, setting) in [(baseURL, "base_url"), (settingsURL, "settings_url")] {
      if let url { try URLRule.check(url, setting: setting) }
    }
    if let realtimeURL { try URLRule.check(realtimeURL, setting: "realtime_url", secure: "wss", plain: "ws") }
    while baseURL?.hasSuffix("/") == true { baseURL?.removeLast() }
    if let channelKey { settingsURL = try Self.settingsURL(ofChannelKey: channelKey) }
    if settingsURL == nil, baseURL == nil || appId == nil {
      let missing = baseURL == nil ? "base_url" : "app_id"
      throw SDKError(
        .local, .invalidAuthParameters,
        "The setting \(missing) is missing; give base_url and app_id, or channel_key, or settings_url.",
        member: missing)
    }
    for (value, setting) in [(appId, "app_id"), (integrationId, "integration_id")] {
      if let value { try IdentifierRule.check(value, setting: setting) }
    }
  }

  /// Returns the settings' URL in a channel key, which is base64 of JSON.
  static func settingsURL(ofChannelKey key: String) throws(SDKError) -> String {
    let refused = SDKError(
      .local, .invalidChannelKey,
      "The channel key does not decode to JSON with settingsUrl; copy it again from the vendor's Admin Center.",
      member: "channel_key")
    var text = key.filter { !$0.isWhitespace }
    while text.utf8.count % 4 != 0 { text += "=" }
    guard let data = Data(base64Encoded: text), let json = try? JSONParser.parse(data),
      let url = (json["settingsUrl"] ?? json["settings_url"])?.stringValue
    else { throw refused }
    do throws(SDKError) { try URLRule.check(url, setting: "channel_key") } catch { throw refused }
    return url
  }
}
