import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct PublishedTokenTests {
  private let now = ManualClock.start

  private func check(end: Double?, http: Bool) throws {
    let secret = Secret("a\"b\\c\u{1F600}\n")
    let expires = end.map { now + $0 }
    let credential = Credential(token: secret, type: .jwt, obtainedAt: now, expiresAt: expires)
    let way = TokenHTTP(headers: ["Authorization": Secret("Bearer x")])
    let answer = try #require(
      PublishedToken(credential, http: way).answer(TokenDemand(minTTL: 0, http: http), now: now))
    let token = Token(
      token: secret, tokenId: TokenID(secret), tokenType: .jwt, expiresAt: expires,
      ttl: end.map { ($0 * 1000).rounded(.down) / 1000 }, fromCache: true, stale: false, http: http ? way : nil)
    let expected = JSONWriter.bytes(of: try JSONValueEncoder.encode(token))
    #expect(String(decoding: answer, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
  }

  @Test(arguments: [nil, 0.5, 60, 3600.25] as [Double?], [false, true])
  func `The answer written ahead of time is the token's own encoding`(end: Double?, http: Bool) throws {
    try check(end: end, http: http)
  }

  @Test func `Seconds have the text that JSON gives them, rounded down to milliseconds`() {
    var random = SystemRandomNumberGenerator()
    let edges = [
      0, 0.0009, 0.001, 0.01, 0.1, 0.999, 1, 59.9999, 60.05, 1e9 + 0.25, 1e12 - 0.5, (1e12).nextDown, 1e12, 1e300, -1,
      -0.5, .infinity,
      .nan,
    ]
    for seconds in edges + (0..<20_000).map({ _ in Double.random(in: 0..<4_000, using: &random) })
      + (0..<20_000).map({ _ in Double.random(in: 0..<1e12, using: &random) })
    {
      var bytes: [UInt8] = []
      PublishedToken.append(seconds: seconds, to: &bytes)
      let expected = JSONNumber((seconds * 1000).rounded(.down) / 1000).text
      guard bytes.elementsEqual(expected.utf8) else {
        Issue.record("\(seconds): \(String(decoding: bytes, as: UTF8.self)) instead of \(expected)")
        return
      }
    }
  }

  @Test func `It is given while the token lives long enough`() {
    let credential = Credential(token: "x", type: .jwt, obtainedAt: now, expiresAt: now + 60)
    let published = PublishedToken(credential, http: TokenHTTP())
    #expect(published.answer(TokenDemand(minTTL: 60, http: false), now: now) != nil)
    #expect(published.answer(TokenDemand(minTTL: 60.5, http: false), now: now) == nil)
    #expect(published.answer(TokenDemand(minTTL: 0, http: false), now: now + 59.9) != nil)
    #expect(published.answer(TokenDemand(minTTL: 0, http: false), now: now + 60) == nil)
    let endless = PublishedToken(
      Credential(token: "x", type: .jwt, obtainedAt: now, expiresAt: nil), http: TokenHTTP())
    #expect(endless.answer(TokenDemand(minTTL: 1e9, http: false), now: now) != nil)
  }

  @Test(
    "Both paths of token.get find the same tokens long enough, to the last bit", arguments: [0, 59.9995, 60, 60.0004])
  func bothPaths(minTTL: Double) async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      let demand = TokenDemand(minTTL: minTTL)
      for passed in [0, 0.0003, 0.0002] {
        world.clock.advance(passed)
        let isAnsweredAtOnce = desk.cachedAnswer(demand, of: nil) != nil
        // Without a provider, a token that is not long enough is returned as a stale one.
        #expect(try await desk.token(demand, of: nil, timeout: nil).stale == !isAnsweredAtOnce)
      }
    }
  }
}
