import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The exchange of identity JWTs, and what follows from an access token.
struct InAppTests {
  private static let path = "/sm/iamessage/api/v2"
  private static let user = "\(path)/authorization/authenticated/access-token"
  private static let guest = "\(path)/authorization/unauthenticated/access-token"
  private static let more = "\(path)/authorization/continuation-access-token"

  let sandbox = TestSandbox()

  private func token(_ change: (inout DemoIdentityToken) -> Void = { _ in }) -> String {
    var token = DemoIdentityToken(subject: "alice", issuedAt: sandbox.clock.now)
    change(&token)
    return token.text
  }

  private func exchange(_ jwt: String, _ more: [String: JSON] = [:]) async throws -> SandboxResponse {
    var body: [String: JSON] = [
      "orgId": .string(DemoAccounts.inAppOrganizationID), "esDeveloperName": .string(DemoAccounts.inAppDeployment),
      "capabilitiesVersion": "1", "platform": "Web", "authorizationType": "JWT", "customerIdentityToken": .string(jwt),
    ]
    for (key, value) in more { body[key] = value }
    return try await sandbox.send("POST", Self.user, .object(body))
  }

  private func access(_ jwt: String? = nil) async throws -> String {
    try #require(try await exchange(jwt ?? token()).tree?["accessToken"]?.stringValue)
  }

  private func list(_ token: String?) async throws -> SandboxResponse {
    try await sandbox.send(
      "GET", "\(Self.path)/conversation/list", authorization: token.map { "Bearer \($0)" })
  }

  @Test(arguments: ["RS256", "RS512"])
  func `A JWT with the right signature becomes an access token that names its user`(_ algorithm: String) async throws {
    let answer = try await exchange(token { $0.algorithm = algorithm })
    #expect(answer.status == 200)
    let access = try #require(answer.tree?["accessToken"]?.stringValue)
    let claims = try #require(SignedToken(access)?.claims)
    #expect(claims["sub"] == "v2/iamessage/AUTH/sandbox/uid:alice")
    #expect(claims["orgId"] == "00Dsandbox00001")
    #expect(claims["exp"] == 1_800_003_600)
    #expect(answer.tree?["lastEventId"] == "0")
    #expect(try await list(access).status == 200)
  }

  @Test func `Every fault of a JWT is refused, and only an expired one says so`() async throws {
    let faults: [(String, String)] = [
      (token { $0.kid = nil }, "not valid"), (token { $0.kid = "other" }, "not valid"),
      (token { $0.issuer = "https://other.example" }, "not valid"), (token { $0.issuer = nil }, "not valid"),
      (token { $0.lifetime = nil }, "not valid"), (token { $0.lifetime = -1 }, "expired"),
      (token { $0.algorithm = "RS384" }, "not valid"), ("a.b.c", "not valid"), (sandbox.token("alice"), "not valid"),
      (token().dropLast(4) + "AAAA", "not valid"),
    ]
    for (jwt, word) in faults {
      let answer = try await exchange(jwt)
      #expect(answer.status == 401)
      #expect(answer.tree?["message"]?.stringValue?.contains(word) == true)
    }
    #expect(try await exchange(token(), ["esDeveloperName": "Nowhere"]).status == 404)
    #expect(try await exchange(token(), ["orgId": "00Dother0000001"]).status == 404)
    #expect(try await exchange(token(), ["orgId": "00Dsandbox00001AAA"]).status == 200)
    let guests = JSON.string(DemoAccounts.inAppGuestDeployment)
    #expect(try await exchange(token(), ["esDeveloperName": guests]).status == 403)
  }

  @Test func `A key of the test's own verifies too, and a removed one does not`() async throws {
    #expect(try await exchange(token { $0.kid = "mine" }).status == 401)
    let keys = try await sandbox.send("GET", "/_keys").tree?["sm"]?["keyset"]?.elements
    let pem = try #require(keys?.first?["publicKey"])
    try await sandbox.control("/_keys", ["sdk": "sm", "kid": "mine", "secret": pem])
    #expect(try await exchange(token { $0.kid = "mine" }).status == 200)
    try await sandbox.control("/_keys", ["sdk": "sm", "kid": "mine", "secret": .null])
    #expect(try await exchange(token { $0.kid = "mine" }).status == 401)
    let wrong = try await sandbox.send("POST", "/_keys", ["sdk": "sm", "kid": "mine", "secret": "no key"])
    #expect(wrong.status == 400)
  }

  @Test func `A token is over when it has expired or was revoked, and its continuation is another one`() async throws {
    let own = try await access()
    let answer = try await sandbox.send("GET", Self.more, authorization: "Bearer \(own)")
    let other = try #require(answer.tree?["accessToken"]?.stringValue)
    #expect(other != own)
    #expect(SignedToken(other)?.claims["exp"] == SignedToken(own)?.claims["exp"])
    #expect(try await sandbox.send("DELETE", Self.user, authorization: "Bearer \(own)").status == 204)
    #expect(try await sandbox.send("DELETE", Self.user, authorization: "Bearer \(own)").status == 401)
    #expect(try await list(own).status == 401)
    #expect(try await sandbox.send("GET", Self.more, authorization: "Bearer \(own)").status == 401)
    #expect(try await list(other).status == 200)
    #expect(try await list(nil).status == 401)
    sandbox.clock.advance(by: 3_601)
    #expect(try await list(other).status == 401)
  }

  @Test func `Guests get a token of their own, and no device id`() async throws {
    var body: [String: JSON] = [
      "orgId": .string(DemoAccounts.inAppOrganizationID),
      "esDeveloperName": .string(DemoAccounts.inAppGuestDeployment), "capabilitiesVersion": "1", "platform": "Web",
    ]
    let answer = try await sandbox.send("POST", Self.guest, .object(body))
    let subject = answer.tree?["context"]?["endUser"]?["subject"]?.stringValue
    #expect(subject?.hasPrefix("v2/iamessage/UNAUTH/NA/uid:") == true)
    body["deviceId"] = "5a0f0000-0000-4000-8000-000000000000"
    #expect(try await sandbox.send("POST", Self.guest, .object(body)).status == 400)
    body["deviceId"] = nil
    body["esDeveloperName"] = .string(DemoAccounts.inAppDeployment)
    #expect(try await sandbox.send("POST", Self.guest, .object(body)).status == 403)
    try await sandbox.control("/_options", ["sdk": "sm", "guest": true])
    let silent = try await exchange(token())
    #expect(silent.status == 200)
    #expect(silent.tree?["context"]?["endUser"]?["subject"]?.stringValue?.contains("/UNAUTH/") == true)
    try await sandbox.control("/_options", ["sdk": "sm", "noActiveSchemes": true])
    #expect(
      try await exchange(token()).tree?["message"] == "User verification configuration has no active AuthSchemes.")
  }

  @Test func `A conversation has an id in lower case and one owner`() async throws {
    let path = "\(Self.path)/conversation"
    func open(_ id: String, _ token: String) async throws -> Int {
      try await sandbox.send(
        "POST", path, ["conversationId": .string(id), "esDeveloperName": .string(DemoAccounts.inAppDeployment)],
        authorization: "Bearer \(token)"
      ).status
    }
    let (alice, bob) = (try await access(), try await access(token { $0.subject = "bob" }))
    let id = "5a0f0000-0000-4000-8000-00000000000a"
    #expect(try await open(id.uppercased(), alice) == 400)
    #expect(try await open(id, alice) == 201)
    #expect(try await open(id, alice) == 200)
    #expect(try await open(id, bob) == 403)
    #expect(try await list(alice).tree?["conversations"]?.elements.count == 1)
    #expect(try await list(bob).tree?["conversations"]?.elements.isEmpty == true)
  }

  @Test func `A deployment's configuration needs no token`() async throws {
    let name = DemoAccounts.inAppDeployment
    let path = "/sm/embeddedservice/v1"
    let answer = try await sandbox.send("GET", "\(path)/embedded-service-config?esConfigName=\(name)")
    let channel = answer.tree?["embeddedServiceConfig"]?["embeddedServiceMessagingChannel"]
    #expect(channel?["authMode"] == "Auth")
    #expect(try await sandbox.send("GET", "\(path)/businesshours?esConfigName=\(name)").status == 204)
    #expect(try await sandbox.send("GET", "\(path)/embedded-service-config?esConfigName=none").status == 404)
  }
}
