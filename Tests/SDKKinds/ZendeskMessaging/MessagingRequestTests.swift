import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

extension RepeatableRequestTests {
  @Test("Messaging repeats reads and logins, which give the same user again")
  func messaging() async throws {
    let adapter: MessagingAdapter = try adapter(
      ZendeskMessaging(), ["base_url": "https://own.test", "app_id": "a"])
    let alice = Self.record(.jwt)
    let offered = CheckedCredential(credential: Self.credential(.jwt), externalId: "alice")
    _ = try? await adapter.signIn(offered, from: .nobody(.noUser))
    _ = try? await adapter.renew(with: offered, of: alice)
    _ = try? await adapter.makeAnonymousUser(from: .nobody(.noUser))
    _ = try? await adapter.signOut(Self.credential(.jwt), of: alice, on: nil)
    _ = try? await adapter.register(Self.push, of: alice, on: nil)
    check(
      repeatable: ["POST /v2/apps/a/login", "GET /v2/apps/a/appusers/u1"],
      once: [
        "POST /v2/apps/a/appusers", "POST /v2/apps/a/appusers/u1/logout", "PUT /v2/apps/a/appusers/u1/clients/i1",
      ])
  }
}
