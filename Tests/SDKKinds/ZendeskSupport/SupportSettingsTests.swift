import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The settings of a Support instance: valid ones, and the errors of invalid ones.
@Suite struct SupportSettingsTests {
  private static let base: JSONObject = ["base_url": "https://acme.zendesk.com", "app_id": "a", "client_id": "c"]

  private func member(_ settings: JSONObject) -> String? {
    do throws(RPCError) {
      _ = try Settings.decode(SupportSettings.self, from: settings, at: "settings")
      return nil
    } catch {
      return error.data["member"]?.stringValue
    }
  }

  @Test("Good ones") func goodOnes() throws {
    #expect(member(Self.base) == nil)
    #expect(member(Self.base.merged(with: ["base_url": "http://127.0.0.1:8080/zs", "authentication": "jwt"])) == nil)
    #expect(member(Self.base.merged(with: ["coppa": true, "strict_identifiers": true, "timeout": "5s"])) == nil)
    let settings = try Settings.decode(
      SupportSettings.self, from: Self.base.merged(with: ["base_url": "https://a.b/c//"]), at: "settings")
    #expect(settings.baseURL == "https://a.b/c")
    #expect(settings.common.planner.mode == .lazy)
  }

  private static let mistakes: [(settings: JSONObject, expected: String)] = [
    (["app_id": "a", "client_id": "c"], "settings.base_url"),
    (["base_url": "https://a.b", "client_id": "c"], "settings.app_id"),
    (["base_url": "https://a.b", "app_id": "a"], "settings.client_id"),
    (base.merged(with: ["base_url": "http://a.b"]), "settings.base_url"),
    (base.merged(with: ["app_id": "a/../b"]), "settings.app_id"),
    (base.merged(with: ["client_id": "c\r\nX: y"]), "settings.client_id"),
    (base.merged(with: ["client_id": ""]), "settings.client_id"),
    (base.merged(with: ["authentication": "oauth"]), "settings.authentication"),
    (base.merged(with: ["copa": true]), "settings.copa"),
    (base.merged(with: ["coppa": "yes"]), "settings.coppa"),
  ]

  @Test("Mistakes are named", arguments: mistakes)
  func mistakesAreNamed(settings: JSONObject, expected: String) {
    #expect(member(settings) == expected)
  }
}
