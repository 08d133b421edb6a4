import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The settings of a Messaging instance: valid ones, and the errors of invalid ones.
@Suite struct MessagingSettingsTests {
  private func member(_ settings: JSONObject) -> String? {
    do throws(RPCError) {
      _ = try Settings.decode(MessagingSettings.self, from: settings, at: "settings")
      return nil
    } catch {
      return error.data["member"]?.stringValue
    }
  }

  @Test func goodOnes() throws {
    #expect(member(["base_url": "https://acme.zendesk.com/sc/sdk/", "app_id": "5f00"]) == nil)
    #expect(member(["base_url": "http://127.0.0.1:8080/zm", "app_id": "a", "timeout": "10s"]) == nil)
    #expect(member(["settings_url": "https://acme.zendesk.com/x.json"]) == nil)
    // Base64 of {"settingsUrl":"https://acme.zendesk.com/x.json"}.
    #expect(
      member(["channel_key": "eyJzZXR0aW5nc1VybCI6Imh0dHBzOi8vYWNtZS56ZW5kZXNrLmNvbS94Lmpzb24ifQ=="]) == nil)
    let settings = try Settings.decode(
      MessagingSettings.self, from: ["base_url": "https://a.b/c//", "app_id": "x"], at: "settings")
    #expect(settings.baseURL == "https://a.b/c")
    #expect(settings.common.timeout == 30)
    #expect(settings.common.planner.mode == .eager)
  }

  private static let mistakes: [(settings: JSONObject, expected: String)] = [
    (["app_id": "a"], "settings.base_url"), (["base_url": "https://a.b"], "settings.app_id"),
    (["base_url": "http://a.b", "app_id": "a"], "settings.base_url"),
    (["base_url": "https://a.b", "app_id": "a/b"], "settings.app_id"),
    (["base_url": "https://a.b", "app_id": "a", "app_di": 1], "settings.app_di"),
    (["base_url": "https://a.b", "app_id": "a", "anonymous": "often"], "settings.anonymous"),
    (["base_url": "https://a.b", "app_id": "a", "refresh": ["jitter": 2]], "settings.refresh.jitter"),
    (["base_url": "https://a.b", "app_id": "a", "proxy": "socks5://p:1"], "settings.proxy"),
    (["base_url": "https://a.b", "app_id": "a", "proxy_credentials": "u:p"], "settings.proxy_credentials"),
    (["base_url": "https://a.b", "app_id": "a", "refresh": ["modus": "lazy"]], "settings.refresh.modus"),
    (["channel_key": "???"], "settings.channel_key"),
  ]

  @Test(arguments: mistakes)
  func mistakesAreNamed(settings: JSONObject, expected: String) {
    #expect(member(settings) == expected)
  }

  @Test("Settings decoded for many instances are as those decoded alone, and mistakes are told each time")
  func sharing() throws {
    let first: JSONObject = ["app_id": "a", "base_url": "https://own.test"]
    let second = first.merged(with: ["realtime": "off"])
    try Settings.sharing {
      for object in [first, first, second, second, first] {
        let decoded = try Settings.decode(MessagingSettings.self, from: object, at: "settings")
        #expect(decoded.appId == "a")
        #expect(decoded.realtime == (object["realtime"] == nil ? nil : .off))
        for _ in 0..<2 {
          #expect(throws: RPCError.self) {
            try Settings.decode(MessagingSettings.self, from: object.merged(with: ["app_id": 1]), at: "settings")
          }
        }
      }
    }
  }
}
