import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

extension RepeatableRequestTests {
  @Test("edna repeats its requests over HTTP, which only read")
  func edna() async throws {
    let adapter: EdnaAdapter = try adapter(
      EdnaChatCenter(),
      ["rest_url": "https://own.test", "ws_url": "wss://own.test/ws", "provider_uid": "p"])
    _ = try? await adapter.wire.pingInterval(EdnaState([:]))
    _ = try? await adapter.wire.probe(EdnaState([:]))
    check(repeatable: ["GET /api/chat/config", "GET /api/client/history"], once: [])
  }
}
