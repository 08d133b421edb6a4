import Foundation
import JSONRPC
import JWTKit
import Testing

@testable import SandboxServer

/// Token verification, with tokens signed by a library that the sandbox does not use.
struct TokenVerificationTests {
  let sandbox = TestSandbox()

  struct Claims: JWTPayload {
    var scope: String? = "user"
    var external_id: String? = "alice"
    var userId: String?
    var exp: Double?
    func verify(using algorithm: some JWTAlgorithm) {}
  }

  struct NumericID: JWTPayload {
    var scope = "user"
    var external_id = 17
    func verify(using algorithm: some JWTAlgorithm) {}
  }

  func sign(
    _ claims: some JWTPayload, kid: JWKIdentifier? = "app_demo", secret: String = DemoAccounts.secret,
    digest: DigestAlgorithm = .sha256
  ) async throws -> String {
    let keys = await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: digest, kid: kid)
    return try await keys.sign(claims, kid: kid)
  }

  @Test func `A token signed by another implementation is accepted`() async throws {
    let response = try await sandbox.login(sign(Claims()), ["userId": "alice", "client": ["id": "c1"]])
    #expect(response.status == 200)
    #expect(response.tree?["appUser"]?["userId"] == "alice")
    #expect(response.tree?["sessionToken"] == nil)
  }

  @Test func `The second key and the legacy scope work too`() async throws {
    let second = try #require(DemoAccounts.keys["app_second"])
    let token = try await sign(
      Claims(scope: "appUser", external_id: nil, userId: "alice"), kid: "app_second", secret: second)
    #expect(try await sandbox.login(token).tree?["appUser"]?["userId"] == "alice")
  }

  @Test func `A minted token is one that the other implementation verifies`() async throws {
    let keys = await JWTKeyCollection().add(
      hmac: HMACKey(from: DemoAccounts.secret), digestAlgorithm: .sha256, kid: "app_demo")
    let claims = try await keys.verify(sandbox.token("bob"), as: Claims.self)
    #expect(claims.external_id == "bob")
    #expect(claims.exp == 1_800_000_300)
    #expect(sandbox.token("bob") != sandbox.token("bob"))
  }

  @Test func `Every flaw is the same 401, and the log tells them apart`() async throws {
    let long = String(repeating: "x", count: 256)
    let flawed: [(String, String)] = [
      (try await sign(Claims(), secret: String(repeating: "another ", count: 9)), "wrong signature"),
      (try await sign(Claims(), kid: "app_other"), "unknown kid"),
      (try await sign(Claims(), kid: nil), "no kid"),
      (try await sign(Claims(), secret: String(repeating: "another ", count: 9), digest: .sha512), "alg"),
      (try await sign(Claims(scope: "admin")), "scope"),
      (try await sign(Claims(scope: nil)), "scope"),
      (try await sign(Claims(external_id: nil)), "external_id"),
      (try await sign(Claims(external_id: "")), "external_id"),
      (try await sign(Claims(external_id: long)), "external_id"),
      (try await sign(NumericID()), "external_id"),
      (try await sign(Claims(exp: 1_800_000_000)), "expired"),
      ("a.b", "not a JWT"),
      ("", "not a JWT"),
    ]
    for (token, reason) in flawed {
      let response = try await sandbox.login(token.isEmpty ? "-" : token)
      #expect(response.isInvalidAuth, "\(reason)")
      #expect(response.note?.contains(reason) == true, "\(response.note ?? "") is not \(reason)")
    }
    #expect(try await sandbox.notes().count == flawed.count)
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
