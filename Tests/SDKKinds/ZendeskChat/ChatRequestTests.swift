import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

extension RepeatableRequestTests {
  @Test("Chat repeats the exchange, which may be made with the same JWT while it lives")
  func chat() async throws {
    let adapter: ChatAdapter = try adapter(ZendeskChat(), ["account_key": "k", "id_url": "https://own.test"])
    _ = try? await adapter.wire.exchange(Secret("jwt-1"), state: nil, hints: [])
    check(repeatable: ["POST /authenticated/web/jwt"], once: [])
  }
}
