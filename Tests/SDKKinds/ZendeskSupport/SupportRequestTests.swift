import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

extension RepeatableRequestTests {
  @Test("Support repeats reads and exchanges, which name the user by guid or unique id")
  func support() async throws {
    let base: JSONObject = ["base_url": "https://own.test", "app_id": "a", "client_id": "c"]
    let adapter: SupportAdapter = try adapter(ZendeskSupport(), base)
    for identity in [SupportIdentity.anonymous(), .unique(Secret("alice-unique-id-00"))] {
      let type: JSONObject = ["authentication": .string(identity.type.rawValue)]
      let typed: SupportAdapter = try self.adapter(ZendeskSupport(), base.merged(with: type))
      _ = try? await typed.signIn(try typed.offered(identity), from: .nobody(.noUser))
    }
    _ = try? await adapter.signIn(try adapter.offered(.anonymous()), from: .nobody(.noUser))
    let alice = Self.record(.accessToken, kindState: SupportIdentity.anonymous().state(guid: Secret("guid-1")))
    _ = try? await adapter.probe(Self.credential(.accessToken), of: alice)
    _ = try? await adapter.register(Self.push, of: alice, on: nil)
    _ = try? await adapter.unregister(Self.push, of: alice, on: nil)
    let devices = "/api/mobile/push_notification_devices"
    check(
      repeatable: [
        "POST /access/sdk/jwt", "POST /access/sdk/anonymous", "GET /api/mobile/users/me.json",
        "GET /api/private/mobile_sdk/settings/a.json",
      ], once: ["POST \(devices).json", "DELETE \(devices)/d1.json"])
  }
}
