import JSONRPC
import SDKProtocol
import Testing

struct SecretTests {
  private struct Holder {
    var secret = Secret("hunter2")
    var optional: Secret? = Secret("hunter2")
    var list = [Secret("hunter2")]
    var table = ["key": Secret("hunter2")]
  }

  @Test func `A secret is never seen`() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(secret, to: &dumped)
    dump(Holder(), to: &dumped)
    dump(Credentials(token: secret), to: &dumped)
    let texts = [
      "\(secret)", String(describing: secret), String(reflecting: secret), "\(Holder())", String(reflecting: Holder()),
      "\([secret])", "\(Optional(secret) as Any)", dumped,
      Mirror(reflecting: secret).children.map { "\($0)" }.joined(),
    ]
    for text in texts { #expect(!text.contains("hunter2")) }
    #expect("\(secret)" == "‹secret›")
    #expect(secret.reveal() == "hunter2")
  }

  private enum Credentials { case some(Secret); init(token: Secret) { self = .some(token) } }

  @Test func `A token in its shape is not seen either`() {
    let secret = Secret("hunter2")
    let token = Token(
      token: secret, tokenId: TokenID(secret), tokenType: .jwt, expiresAt: nil, ttl: nil, fromCache: true, stale: false,
      http: TokenHTTP(headers: ["Authorization": secret]))
    var dumped = "\(token)"
    dump(token, to: &dumped)
    #expect(!dumped.contains("hunter2"))
  }

  @Test func `Secrets are compared by their bytes`() {
    #expect(Secret("a") == Secret("a"))
    #expect(Secret("a") != Secret("b"))
    #expect(Secret("a") != Secret("aa"))
    #expect(Secret("\u{E9}") != Secret("e\u{301}"))
    #expect(Set([Secret("a"), Secret("a")]).count == 1)
    #expect(Secret("").isEmpty)
  }

  @Test func `On the wire it is its text`() throws {
    #expect(try JSONValueEncoder.encode(Secret("x")) == "x")
    #expect(try JSONValueDecoder.decode(Secret.self, from: "x") == Secret("x"))
  }

  @Test func `A token's id is stable, short and tells nothing`() throws {
    let id = TokenID(Secret("hunter2"))
    #expect(id == TokenID(Secret("hunter2")))
    #expect(id != TokenID(Secret("hunter3")))
    #expect(id.description.count == 16)
    #expect(id.description.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    #expect(!id.description.contains("hunter"))
    // Logs contain the digest, so it must not change between versions.
    #expect(TokenID(Secret("")).description == "dbe5618ac6ed56ae")
    #expect(try JSONValueDecoder.decode(TokenID.self, from: try JSONValueEncoder.encode(id)) == id)
  }
}
