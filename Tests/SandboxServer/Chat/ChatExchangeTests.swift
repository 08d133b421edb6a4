import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The exchange of JWTs for id tokens.
struct ChatExchangeTests {
  let sandbox = TestSandbox()

  @Test func `A JWT becomes an id token with a lifetime and a state`() async throws {
    let answer = try await sandbox.chatExchange(sandbox.chatToken().text)
    #expect(answer.status == 200)
    #expect(answer.tree?["success"] == true)
    #expect(answer.tree?["expires_in"] == 3_600)
    #expect(answer.idToken?.isEmpty == false)
    let token = try await sandbox.state("zc")["idTokens"]?.elements.first
    #expect(token?["idToken"]?.stringValue == answer.idToken)
    #expect(token?["externalId"] == "alice")
    #expect(token?["expiresAt"] == 1_800_003_600)
  }

  @Test func `Each exchange gives a new state, and the state sent back is the same visitor`() async throws {
    let first = try await sandbox.chatExchange(sandbox.chatToken().text)
    let second = try await sandbox.chatExchange(sandbox.chatToken().text, state: first.chatState)
    let third = try await sandbox.chatExchange(sandbox.chatToken().text, state: first.chatState)
    #expect(Set([first, second, third].map { $0.chatState }).count == 3)
    #expect(Set([first, second, third].map { $0.idToken }).count == 3)
    let visitors = try await sandbox.state("zc")["visitors"]?.elements
    #expect(visitors?.count == 1)
    #expect(visitors?.first?["state"]?.stringValue == third.chatState)
    #expect(visitors?.first?["newestStates"] == 1)
    #expect(visitors?.first?["olderStates"] == 1)
  }

  @Test func `A visitor's external id can't change, unless nothing binds it`() async throws {
    let alice = try await sandbox.chatExchange(sandbox.chatToken().text)
    let changed = try await sandbox.chatExchange(sandbox.chatToken("bob").text, state: alice.chatState)
    #expect(changed.isChatRefusal("external ID has changed"))
    #expect(try await sandbox.chatExchange(sandbox.chatToken("bob").text).status == 200)
    #expect(try await sandbox.chatExchange(sandbox.chatToken("bob").text, state: "foreign").status == 200)
    #expect(try await sandbox.state("zc")["visitors"]?.elements.count == 2)
  }

  @Test func `The account, the token and the secret must be there`() async throws {
    let token = sandbox.chatToken().text
    for account in [nil, "", "unknown"] {
      let answer = try await sandbox.chatExchange(token, account: account)
      #expect(answer.isChatRefusal("account key not found"))
      #expect(answer.status == 400)
    }
    for token in [nil, ""] { #expect(try await sandbox.chatExchange(token).isChatRefusal("token not found")) }
    let bare = try await sandbox.chatExchange(token, account: DemoAccounts.chatAccountKeyWithoutSecret)
    #expect(bare.isChatRefusal("error fetching shared secret"))
    let json = try await sandbox.send("POST", "/zc/authenticated/web/jwt", ["token": .string(token)])
    #expect(json.tree?["success"] == false)
    #expect(try await sandbox.send("GET", "/zc/authenticated/web/jwt").status == 405)
    #expect(try await sandbox.send("POST", "/zc/other").status == 404)
  }

  static let faults: [(claims: JSON, details: String?)] = [
    (["name": .null], "name should be set"), (["name": ""], "name should be set"),
    (["email": .null], "email is invalid"), (["email": "nobody"], "email is invalid"),
    (["email": "a b@c.test"], "email is invalid"), (["email": "@c.test"], "email is invalid"),
    (["external_id": .null], "external_id should be set"), (["external_id": 17], "external_id should be set"),
    (["external_id": .string(String(repeating: "x", count: 201))], "external_id is too long"),
    (["external_id": .string(String(repeating: "x", count: 200))], nil),
    (["iat": .null], "iat should be set"), (["iat": 1_800_000_121, "exp": .null], "iat is in the future"),
    (["iat": 1_800_000_120], nil), (["exp": 1_800_000_000], "jwt token has expired"), (["exp": .null], nil),
    (["iat": 1_799_999_580, "exp": .null], "jwt token has expired"),
    (["iat": 1_799_999_581, "exp": .null], nil), (["exp": 1_800_000_421], "exp is too far in the future"),
    (["exp": 1_800_000_420], nil), (["exp": "soon"], "exp is invalid"),
  ]

  @Test(arguments: faults)
  func `Claims are checked one by one`(change: JSON, details: String?) async throws {
    let claims: JSON = [
      "external_id": "alice", "name": "Alice", "email": "alice@example.test", "iat": 1_800_000_000,
      "exp": 1_800_000_300,
    ]
    let changed = (claims.members ?? [:]).merging(change.members ?? [:]) { $1 }
    let answer = try await sandbox.chatExchange(HS256.token(.object(changed), secret: DemoAccounts.chatSecret))
    if let details {
      #expect(answer.isChatRefusal("failed to validate claims", details))
    } else {
      #expect(answer.tree?["success"] == true)
    }
  }

  @Test func `A token that is none, or wrongly signed, is refused in other words`() async throws {
    var token = sandbox.chatToken()
    token.secret = "another"
    let answer = try await sandbox.chatExchange(token.text)
    #expect(answer.isChatRefusal("failed to validate token", "signature is invalid"))
    #expect(try await sandbox.chatExchange("abc").isChatRefusal("failed to parse token"))
  }

  @Test func `A regenerated secret ends old tokens of both kinds`() async throws {
    let old = sandbox.chatToken().text
    #expect(try await sandbox.chatExchange(old).status == 200)
    try await sandbox.control(
      "/_keys", ["sdk": "zc", "kid": .string(DemoAccounts.chatAccountKey), "secret": "new-secret"])
    #expect(try await sandbox.chatExchange(old).isChatRefusal("failed to validate token", "signature is invalid"))
    #expect(try await sandbox.state("zc")["idTokens"]?.elements.map { $0["revoked"] } == [true])
    var token = sandbox.chatToken()
    token.secret = "new-secret"
    #expect(try await sandbox.chatExchange(token.text).status == 200)
    try await sandbox.control("/_keys", ["sdk": "zc", "kid": .string(DemoAccounts.chatAccountKey), "secret": .null])
    #expect(try await sandbox.chatExchange(token.text).isChatRefusal("error fetching shared secret"))
  }

  @Test func `Lifetime, status and the longest external id can be set`() async throws {
    try await sandbox.control("/_options", ["sdk": "zc", "expiresIn": 2, "failureStatus": 200, "externalIdMax": 3])
    #expect(try await sandbox.chatExchange(sandbox.chatToken("bob").text).tree?["expires_in"] == 2)
    let refused = try await sandbox.chatExchange(sandbox.chatToken("alice").text)
    #expect(refused.status == 200)
    #expect(refused.isChatRefusal("failed to validate claims", "external_id is too long"))
    try await sandbox.control("/_options", ["sdk": "zc", "externalIdMax": .null])
    #expect(try await sandbox.chatExchange(sandbox.chatToken("alice").text).idToken != nil)
    #expect(try await sandbox.send("POST", "/_options", ["sdk": "zc", "expiresIn": -1]).status == 400)
  }

  @Test func `A scripted 500 is the vendor's, and unknown errors can be scripted`() async throws {
    try await sandbox.control("/_control", ["route": "/authenticated/web/jwt", "status": 500])
    let failed = try await sandbox.chatExchange(sandbox.chatToken().text)
    #expect(failed.status == 500)
    #expect(failed.isChatRefusal("internal server error"))
    try await sandbox.control(
      "/_control", ["route": "/authenticated/web/jwt", "body": ["success": false, "error": "never heard of"]])
    #expect(try await sandbox.chatExchange(sandbox.chatToken().text).isChatRefusal("never heard of"))
  }
}
