import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

extension RepeatableRequestTests {
  @Test("Salesforce repeats reads only: a refresh may spend the refresh token")
  func salesforce() async throws {
    let adapter: SalesforceAdapter = try adapter(
      SalesforceChat(), ["client_id": "c", "login_url": "https://own.test", "services": ["chat"]])
    let (wire, token) = (adapter.wire, Secret("t-1"))
    let account = SalesforceAccount(instanceURL: "https://own.test")
    _ = try? await wire.refresh(token, of: account)
    _ = try? await wire.revoke(token, at: "https://own.test")
    _ = try? await wire.userInfo(token, at: "https://own.test")
    _ = try? await wire.createDevice([:], token: token, at: "https://own.test")
    _ = try? await wire.deleteDevice("d1", token: token, at: "https://own.test")
    let devices = "/services/data/\(adapter.wire.settings.apiVersion)/sobjects/MobilePushServiceDevice"
    check(
      repeatable: ["GET /services/oauth2/userinfo"],
      once: [
        "POST /services/oauth2/token", "POST /services/oauth2/revoke", "POST \(devices)", "DELETE \(devices)/d1",
      ])
  }
}
