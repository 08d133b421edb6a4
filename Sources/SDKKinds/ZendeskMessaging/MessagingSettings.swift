import JSONRPC
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings of a Messaging instance (sdkd.toml(5)).
struct MessagingSettings: RPCValue, Hashable {
  enum Anonymous: String, Codable, CaseIterable { case lazy, never }
  enum ConversationMode: String, Codable, CaseIterable { case single, multi }
  enum Realtime: String, Codable, CaseIterable { case auto, off }

  var baseURL: String?
  var appId: String?
  var channelKey: String?
  var settingsURL: String?
  var integrationId: String?
  var conversationMode: ConversationMode?
  var anonymous: Anonymous?
  var realtime: Realtime?
  var realtimeURL: String?
  var strictJWT: Bool?
  /// The settings that all kinds have in common.
  var common: CommonSettings

  enum CodingKeys: String, CodingKey {
    case baseURL = "base_url"
    case appId = "app_id"
    case channelKey = "channel_key"
    case settingsURL = "settings_url"
    case integrationId = "integration_id"
    case conversationMode = "conversation_mode"
    case anonymous, realtime
    case realtimeURL = "realtime_url"
    case strictJWT = "strict_jwt"
  }

  static let jsonSchema = JSONSchema.object(
    [
      .optional("base_url", .url, "where the vendor is; with app_id"),
      .optional("app_id", .string(), "the app's id; with base_url"),
      .optional("channel_key", .string(), "instead of base_url and app_id: the channel's key"),
      .optional("settings_url", .url, "instead of base_url and app_id: where they can be read"),
      .optional("integration_id", .string(), "the integration that clients belong to"),
      .optional(
        "conversation_mode", .enumeration(ConversationMode.allCases.map(\.rawValue)),
        "how conversations are merged; read from the vendor unless given"),
      .optional(
        "anonymous", .enumeration(Anonymous.allCases.map(\.rawValue)),
        "whether session.open makes an anonymous user when nobody is signed in; lazy unless given"),
      .optional(
        "realtime", .enumeration(Realtime.allCases.map(\.rawValue)),
        "whether the realtime socket is kept, for live merges, when the vendor offers one; auto unless given"),
      .optional(
        "realtime_url", .url, "where the realtime socket is; as the vendor says unless given"),
      .optional("strict_jwt", .boolean, "refuse a JWT whose alg, kid or scope can't be right"),
    ] + CommonSettings.members)

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    baseURL = try container.decodeIfPresent(String.self, forKey: .baseURL)
    appId = try container.decodeIfPresent(String.self, forKey: .appId)
    channelKey = try container.decodeIfPresent(String.self, forKey: .channelKey)
    settingsURL = try container.decodeIfPresent(String.self, forKey: .settingsURL)
    integrationId = try container.decodeIfPresent(String.self, forKey: .integrationId)
    conversationMode = try container.decodeIfPresent(ConversationMode.self, forKey: .conversationMode)
    anonymous = try container.decodeIfPresent(Anonymous.self, forKey: .anonymous)
    realtime = try container.decodeIfPresent(Realtime.self, forKey: .realtime)
    realtimeURL = try container.decodeIfPresent(String.self, forKey: .realtimeURL)
    strictJWT = try container.decodeIfPresent(Bool.self, forKey: .strictJWT)
    common = try CommonSettings(from: decoder, mode: .eager)
    try check()
  }

  private mutating func check() throws {
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
