import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The settings of a Chat instance: valid ones, and the errors of invalid ones.
@Suite struct ChatSettingsTests {
  private func member(_ settings: JSONObject) -> String? {
    do throws(RPCError) {
      _ = try Settings.decode(ChatSettings.self, from: settings, at: "settings")
      return nil
    } catch {
      return error.data["member"]?.stringValue
    }
  }

  @Test func theAccountKeyIsEnough() throws {
    let settings = try Settings.decode(ChatSettings.self, from: ["account_key": "k"], at: "settings")
    #expect(settings.idURL == "https://id.zopim.com")
    #expect(settings.mediatorURL == nil)
    #expect(settings.fallback == .anonymous)
    #expect(settings.externalIdMax == 200)
    #expect(settings.common.planner.mode == .lazy)
  }

  @Test func goodOnes() {
    #expect(
      member([
        "account_key": "k", "app_id": "1", "id_url": "http://127.0.0.1:8080/zc/", "mediator_url": "ws://[::1]:1/m",
        "fallback": "fail", "external_id_max": 255, "timeout": "5s",
      ]) == nil)
  }

  private static let mistakes: [(settings: JSONObject, expected: String)] = [
    ([:], "settings.account_key"), (["account_key": ""], "settings.account_key"),
    (["account_key": "a b"], "settings.account_key"), (["account_key": "k", "app_id": "\n"], "settings.app_id"),
    (["account_key": "k", "id_url": "http://id.zopim.com"], "settings.id_url"),
    (["account_key": "k", "mediator_url": "https://a.b"], "settings.mediator_url"),
    (["account_key": "k", "mediator_url": "ws://a.b"], "settings.mediator_url"),
    (["account_key": "k", "fallback": "guest"], "settings.fallback"),
    (["account_key": "k", "external_id_max": 0], "settings.external_id_max"),
    (["account_key": "k", "acount_key": "k"], "settings.acount_key"),
  ]

  @Test(arguments: mistakes)
  func mistakesAreNamed(settings: JSONObject, expected: String) {
    #expect(member(settings) == expected)
  }
}
