import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// Token verification, with tokens signed by a library that the sandbox does not use.
struct TokenVerificationTests {
  let sandbox = TestSandbox()

  typealias Token = PyJWT.Task

  @Test func `A token signed by another implementation is accepted`() async throws {
    let response = try await sandbox.login(PyJWT.sign([Token()])[0], ["userId": "alice", "client": ["id": "c1"]])
    #expect(response.status == 200)
    #expect(response.tree?["appUser"]?["userId"] == "alice")
    #expect(response.tree?["sessionToken"] == nil)
  }

  @Test func `The second key and the legacy scope work too`() async throws {
    let second = try #require(DemoAccounts.keys["app_second"])
    let legacy = Token(claims: ["scope": "appUser", "userId": "alice"], kid: "app_second", secret: second)
    #expect(try await sandbox.login(PyJWT.sign([legacy])[0]).tree?["appUser"]?["userId"] == "alice")
  }

  @Test func `A minted token is one that the other implementation verifies`() async throws {
    let claims = try PyJWT.verify(sandbox.token("bob"), secret: DemoAccounts.secret)
    #expect(claims["external_id"] == "bob")
    #expect(claims["exp"] == 1_800_000_300)
    #expect(sandbox.token("bob") != sandbox.token("bob"))
  }

  @Test func `Every flaw is the same 401, and the log tells them apart`() async throws {
    let long = String(repeating: "x", count: 256)
    let another = String(repeating: "another ", count: 9)
    let flawed: [(Token, String)] = [
      (Token(secret: another), "wrong signature"), (Token(kid: "app_other"), "unknown kid"),
      (Token(kid: nil), "no kid"),
      (Token(secret: another, algorithm: "HS512"), "alg"),
      (Token(claims: ["scope": "admin", "external_id": "alice"]), "scope"),
      (Token(claims: ["external_id": "alice"]), "scope"), (Token(claims: ["scope": "user"]), "external_id"),
      (Token(claims: ["scope": "user", "external_id": ""]), "external_id"),
      (Token(claims: ["scope": "user", "external_id": .string(long)]), "external_id"),
      (Token(claims: ["scope": "user", "external_id": 17]), "external_id"),
      (Token(claims: ["scope": "user", "external_id": "alice", "exp": 1_800_000_000]), "expired"),
    ]
    let tokens = zip(try PyJWT.sign(flawed.map(\.0)), flawed.map(\.1)) + [("a.b", "not a JWT"), ("", "not a JWT")]
    for (token, reason) in tokens {
      let response = try await sandbox.login(token.isEmpty ? "-" : token)
      #expect(response.isInvalidAuth, "\(reason)")
      #expect(response.note?.contains(reason) == true, "\(response.note ?? "") is not \(reason)")
    }
    #expect(try await sandbox.notes().count == tokens.count)
  }

  @Test func `255 characters are not too many`() async throws {
    let id = String(repeating: "é", count: 255)
    #expect(try await sandbox.login(sandbox.token(id)).status == 200)
  }

  @Test func `exp is judged by the sandbox's clock`() async throws {
    let token = sandbox.token("alice", ttl: 60)
    #expect(try await sandbox.login(token).status == 200)
    _ = try await sandbox.send("POST", "/_clock", ["offsetSeconds": 60])
    #expect(try await sandbox.login(token).isInvalidAuth)
    _ = try await sandbox.send("POST", "/_clock", ["offsetSeconds": 0])
    #expect(try await sandbox.login(token).status == 200)
    sandbox.clock.advance(by: 61)
    #expect(try await sandbox.login(token).isInvalidAuth)
    #expect(try await sandbox.login(sandbox.token("alice", ttl: nil)).status == 200)
  }
}
