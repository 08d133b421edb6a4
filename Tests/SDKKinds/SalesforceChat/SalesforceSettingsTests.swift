import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The settings of a Service Chat instance: valid ones, and the errors of invalid ones.
@Suite struct SalesforceSettingsTests {
  private func member(_ settings: JSONObject) -> String? {
    do throws(RPCError) {
      _ = try Settings.decode(SalesforceSettings.self, from: settings, at: "settings")
      return nil
    } catch {
      return error.data["member"]?.stringValue
    }
  }

  @Test func goodOnes() throws {
    let settings = try Settings.decode(
      SalesforceSettings.self, from: ["client_id": "3MVG9", "login_url": "https://login.salesforce.com//"],
      at: "settings")
    #expect(settings.loginURL == "https://login.salesforce.com")
    #expect(settings.services == ["cases", "knowledge", "chat"])
    #expect(settings.apiVersion == "v59.0")
    #expect(settings.common.planner.mode == .lazy)
    #expect(member(["client_id": "a", "client_secret": "b", "services": ["chat"], "api_version": "v61.0"]) == nil)
  }

  private static let mistakes: [(settings: JSONObject, expected: String)] = [
    ([:], "settings.client_id"), (["client_id": ""], "settings.client_id"),
    (["client_id": "a b"], "settings.client_id"),
    (["client_id": "a", "client_secret": "b\nc"], "settings.client_secret"),
    (["client_id": "a", "client_secret": "b", "client_secret_file": "/c"], "settings.client_secret_file"),
    (["client_id": "a", "client_secret_file": "c"], "settings.client_secret_file"),
    (["client_id": "a", "login_url": "http://login.salesforce.com"], "settings.login_url"),
    (["client_id": "a", "login_url": "https://login.salesforce.com/?a=b"], "settings.login_url"),
    (["client_id": "a", "services": .array([])], "settings.services"),
    (["client_id": "a", "services": ["chat", "chat"]], "settings.services"),
    (["client_id": "a", "services": ["chats"]], "settings.services[0]"),
    (["client_id": "a", "api_version": "59"], "settings.api_version"),
    (["client_id": "a", "api_version": "v59.0/../x"], "settings.api_version"),
    (["client_id": "a", "clientid": "b"], "settings.clientid"),
  ]

  @Test(arguments: mistakes)
  func mistakesAreNamed(settings: JSONObject, expected: String) {
    #expect(member(settings) == expected)
  }
}
