import Foundation
import JSONRPC

/// The settings and the configuration that the SDK reads before it signs in.
struct MessagingSettings {
  private let call: BackendCall

  init(_ call: BackendCall, integration: String) throws(MessagingRefusal) {
    guard integration == DemoAccounts.integrationID else { throw .notFound("integration") }
    self.call = call
  }

  /// The response of the settings URL.
  var settings: JSON {
    [
      "identifier": .string(DemoAccounts.integrationID),
      "nativeMessagingSettings": ["integrationId": .string(DemoAccounts.integrationID), "enabled": true],
      "sunco_config": .object(common.merging(["baseURL": ["ios": base]]) { _, last in last }),
    ]
  }

  /// The response of `/v2/integrations/{id}/config`.
  var config: JSON {
    ["config": .object(common.merging(["baseUrl": base]) { _, last in last })]
  }

  /// Returns the channel key: base64 of a JSON object with the settings URL.
  static func channelKey(baseURL: String) -> String {
    let settings: JSON = ["settingsUrl": .string("\(baseURL)/settings/\(DemoAccounts.integrationID).json")]
    return settings.encoded.base64EncodedString()
  }

  /// Returns the `settings` of every user response. `baseUrl` is the URL of the realtime socket.
  static func session(_ call: BackendCall) -> JSON {
    let socket = call.baseURL.replacing("http://", with: "ws://", maxReplacements: 1)
    return [
      "realtime": [
        "enabled": true, "baseUrl": .string("\(socket)/faye"), "retryInterval": 1, "maxConnectionAttempts": 5,
        "connectionDelay": 0,
      ],
      "profile": ["enabled": true, "uploadInterval": 60],
    ]
  }

  private var base: JSON { .string(call.baseURL) }

  private var common: [String: JSON] {
    [
      "app": [
        "id": .string(DemoAccounts.appID), "status": "active", "name": "Sandbox",
        "settings": ["multiConvoEnabled": false],
      ],
      "integration": ["id": .string(DemoAccounts.integrationID), "type": "native", "canUserCreateConversation": true],
      "restRetryPolicy": [
        "maxRetries": 3, "backoffMultiplier": 2, "intervals": ["regular": 60, "aggressive": 15],
      ],
    ]
  }
}
