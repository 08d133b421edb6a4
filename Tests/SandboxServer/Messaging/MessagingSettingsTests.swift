import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The settings in which an SDK finds the address of the backend.
struct MessagingSettingsTests {
  let sandbox = TestSandbox()

  @Test func `The channel key leads to the settings, and these to the backend`() async throws {
    for (sandbox, origin) in [
      (sandbox, "http://127.0.0.1:8000"), (sandbox.named("t1"), "http://127.0.0.1:8000/ns/t1"),
    ] {
      let key = try #require(try await sandbox.send("GET", "/_state").tree?["zm"]?["channelKey"]?.stringValue)
      let content = try #require(Data(base64Encoded: key).flatMap { JSON(parsing: $0) })
      #expect(content["settingsUrl"] == .string("\(origin)/zm/settings/\(DemoAccounts.integrationID).json"))
      let settings = try await sandbox.send("GET", "/zm/settings/\(DemoAccounts.integrationID).json").tree
      let config = settings?["sunco_config"]
      #expect(config?["app"]?["id"] == .string(DemoAccounts.appID))
      #expect(config?["baseURL"]?["ios"] == .string("\(origin)/zm"))
      #expect(config?["restRetryPolicy"]?["maxRetries"] == 3)
      #expect(settings?["nativeMessagingSettings"]?["enabled"] == true)
    }
  }

  @Test(arguments: ["/zm/v2", "/zm/sdk/v2"])
  func `The integration's configuration is where both generations look`(base: String) async throws {
    let response = try await sandbox.send("GET", "\(base)/integrations/\(DemoAccounts.integrationID)/config")
    #expect(response.tree?["config"]?["baseUrl"] == "http://127.0.0.1:8000/zm")
  }

  @Test(arguments: [
    ("GET", "/zm/settings/other.json", 404), ("GET", "/zm/v2/integrations/other/config", 404),
    ("GET", "/zm/v2/apps/other/appusers/u", 404), ("POST", "/zm/v2/apps/other/login", 404),
    ("GET", "/zm", 404), ("GET", "/zm/v2/apps", 404), ("GET", "/", 404), ("GET", "/xx/v2", 404),
    ("GET", "\(TestSandbox.app)/login", 405), ("DELETE", "\(TestSandbox.app)/appusers", 405),
    ("PATCH", "\(TestSandbox.app)/appusers/u", 405), ("GET", "\(TestSandbox.app)/appusers/u/what", 404),
    ("GET", "\(TestSandbox.app)/%zz", 400),
  ])
  func `What is not there is said so`(method: String, path: String, status: Int) async throws {
    #expect(try await sandbox.send(method, path).status == status)
  }

  @Test func `A user response has the settings of the session`() async throws {
    let tree = try await sandbox.login(sandbox.token("alice")).tree
    #expect(tree?["settings"]?["realtime"]?["baseUrl"] == "ws://127.0.0.1:8000/zm/faye")
    #expect(tree?["settings"]?["profile"]?["enabled"] == true)
    #expect(tree?["conversations"] == [])
  }
}
