import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// Grants, refreshes and revocations.
struct SalesforceTokenTests {
  let sandbox = TestSandbox()

  @Test func `A grant gives a set of tokens that opens everything`() async throws {
    let tokens = try await sandbox.grant()
    #expect(tokens["instance_url"] == "http://127.0.0.1:8000/sf")
    #expect(tokens["id"]?.stringValue?.hasPrefix("http://127.0.0.1:8000/sf/id/00D") == true)
    #expect(tokens["client_id"]?.stringValue == DemoAccounts.salesforceClientID)
    #expect(tokens["issued_at"] == "1800000000000")
    #expect(try await sandbox.limits(tokens.access).status == 200)
    let info = try await sandbox.userInfo(tokens.access)
    #expect(info.tree?["name"] == "alice")
    #expect(info.tree?["sub"] == tokens["id"])
    let path = try #require(tokens["id"]?.stringValue?.dropFirst("http://127.0.0.1:8000".count))
    #expect(try await sandbox.limits(tokens.access, at: String(path)).tree?["display_name"] == "alice")
    let bobs = try await sandbox.grant("bob")
    #expect(try await sandbox.limits(bobs.access, at: String(path)).isBadToken)
  }

  @Test func `An access token lives by the sandbox's clock, and a refresh gives the next`() async throws {
    let tokens = try await sandbox.grant("alice", ["ttl": 60])
    sandbox.clock.advance(by: 61)
    #expect(try await sandbox.limits(tokens.access).isInvalidSession)
    #expect(try await sandbox.userInfo(tokens.access).isBadToken)
    let answer = try await sandbox.refresh(tokens.refresh)
    #expect(answer.status == 200)
    #expect(answer.tree?.refresh == nil)
    #expect(answer.tree?["id"] == tokens["id"])
    #expect(try await sandbox.limits(answer.tree?.access).status == 200)
    #expect(try await sandbox.refresh(tokens.refresh, ["grant_type": "hybrid_refresh"]).status == 200)
    #expect(try await sandbox.state("sf")["grants"]?.elements.map { $0["refreshes"] } == [2])
  }

  @Test(arguments: [false, true])
  func `A rotating refresh token is good once`(byOption: Bool) async throws {
    let client = byOption ? DemoAccounts.salesforceClientID : DemoAccounts.salesforceRotatingClientID
    let tokens = try await sandbox.grant("alice", ["client_id": .string(client)])
    if byOption { try await sandbox.control("/_options", ["sdk": "sf", "rotating": true]) }
    let answer = try await sandbox.refresh(tokens.refresh, client: client)
    let next = try #require(answer.tree?.refresh)
    #expect(next != tokens.refresh)
    #expect(try await sandbox.refresh(tokens.refresh, client: client).oauthError == "invalid_grant")
    #expect(try await sandbox.refresh(next, client: client).status == 200)
    let grant = try await sandbox.state("sf")["grants"]?.elements.first
    #expect(grant?["refreshes"] == 2)
    #expect(grant?["spentUses"] == 1)
  }

  @Test func `A grant can be told to rotate or to have no refresh token`() async throws {
    let rotating = try await sandbox.grant("alice", ["rotating": true])
    #expect(try await sandbox.refresh(rotating.refresh).tree?.refresh != nil)
    #expect(try await sandbox.grant("alice", ["refreshable": false]).refresh == nil)
  }

  @Test func `An answer that is cut has rotated all the same`() async throws {
    let tokens = try await sandbox.grant("alice", ["rotating": true])
    try await sandbox.control(
      "/_control", ["route": "POST /services/oauth2/token", "passThrough": true, "closeMidBody": true])
    let form = [
      "grant_type": "refresh_token", "client_id": DemoAccounts.salesforceClientID, "refresh_token": tokens.refresh,
    ].compactMapValues { $0 }
    guard case .cut = await sandbox.reply("POST", TestSandbox.tokenPath, form: form) else {
      Issue.record("not cut")
      return
    }
    #expect(try await sandbox.refresh(tokens.refresh).oauthError == "invalid_grant")
  }

  @Test func `Clients and their secrets are checked`() async throws {
    let confidential = DemoAccounts.salesforceConfidentialClientID
    let tokens = try await sandbox.grant("alice", ["client_id": .string(confidential)])
    let right = ["client_secret": DemoAccounts.salesforceClientSecret]
    #expect(try await sandbox.refresh(tokens.refresh, client: confidential, right).status == 200)
    #expect(try await sandbox.refresh(tokens.refresh, client: confidential).oauthError == "invalid_client")
    let wrong = ["client_secret": "wrong"]
    #expect(try await sandbox.refresh(tokens.refresh, client: confidential, wrong).oauthError == "invalid_client")
    #expect(try await sandbox.refresh(tokens.refresh, client: "x").oauthError == "invalid_client_id")
    #expect(try await sandbox.refresh(tokens.refresh).oauthError == "invalid_grant")
    try await sandbox.control("/_keys", ["sdk": "sf", "kid": .string(confidential), "secret": .null])
    #expect(try await sandbox.refresh(tokens.refresh, client: confidential, right).oauthError == "invalid_client_id")
  }

  @Test func `Requests that make no sense are refused as such`() async throws {
    let tokens = try await sandbox.grant()
    let password = ["grant_type": "password"]
    #expect(try await sandbox.refresh(tokens.refresh, password).oauthError == "unsupported_grant_type")
    #expect(try await sandbox.refresh(nil).oauthError == "invalid_request")
    #expect(try await sandbox.refresh("5Aep861unknown").oauthError == "invalid_grant")
    let json = try await sandbox.send("POST", TestSandbox.tokenPath, ["grant_type": "refresh_token"])
    #expect(json.oauthError == "invalid_request")
    #expect(try await sandbox.send("POST", "/_grant", ["user": "a", "client_id": "x"]).status == 400)
    #expect(try await sandbox.send("POST", "/_grant", [:]).tree?["error"]?["member"] == "user")
    #expect(try await sandbox.send("GET", "/_grant").status == 405)
  }

  @Test func `A sixth approval ends the oldest`() async throws {
    let first = try await sandbox.grant()
    let second = try await sandbox.grant()
    for _ in 3...5 { _ = try await sandbox.grant() }
    _ = try await sandbox.grant("bob")
    #expect(try await sandbox.refresh(first.refresh).status == 200)
    _ = try await sandbox.grant()
    #expect(try await sandbox.refresh(first.refresh).oauthError == "invalid_grant")
    #expect(try await sandbox.limits(first.access).isInvalidSession)
    #expect(try await sandbox.refresh(second.refresh).status == 200)
  }

  @Test func `A client revokes a grant by its refresh token, or one access token`() async throws {
    let tokens = try await sandbox.grant()
    let other = try await sandbox.grant()
    let path = "/sf/services/oauth2/revoke"
    let refresh = try #require(tokens.refresh)
    let access = try #require(other.access)
    let done = try await sandbox.send("POST", path, form: ["token": refresh, "revoke_reason": "user_logout"])
    #expect(done.status == 200)
    #expect(done.body.isEmpty)
    #expect(try await sandbox.limits(tokens.access).isInvalidSession)
    #expect(try await sandbox.refresh(tokens.refresh).oauthError == "invalid_grant")
    #expect(try await sandbox.send("POST", path, form: ["token": access]).status == 200)
    #expect(try await sandbox.limits(other.access).isInvalidSession)
    #expect(try await sandbox.refresh(other.refresh).status == 200)
    #expect(try await sandbox.send("POST", path, form: ["token": refresh]).oauthError == "invalid_token")
    #expect(try await sandbox.send("POST", path, form: [:]).oauthError == "invalid_request")
    let revocations = try await sandbox.state("sf")["revocations"]?.elements
    #expect(revocations?.map { $0["kind"]?.stringValue } == ["refresh", "access", nil])
    #expect(revocations?.first?["reason"] == "user_logout")
    #expect(revocations?.first?["token"]?.stringValue == refresh)
  }

  @Test func `Control revokes access tokens, refresh tokens or both`() async throws {
    let tokens = try await sandbox.grant()
    try await sandbox.control("/_revoke", ["sdk": "sf", "externalId": "alice", "kind": "access"])
    #expect(try await sandbox.limits(tokens.access).isInvalidSession)
    let fresh = try #require(try await sandbox.refresh(tokens.refresh).tree?.access)
    try await sandbox.control("/_revoke", ["sdk": "sf", "externalId": "alice", "kind": "refresh"])
    #expect(try await sandbox.limits(fresh).status == 200)
    #expect(try await sandbox.refresh(tokens.refresh).oauthError == "invalid_grant")
    let another = try await sandbox.grant()
    try await sandbox.control("/_revoke", ["sdk": "sf", "externalId": "alice"])
    #expect(try await sandbox.limits(another.access).isInvalidSession)
    #expect(try await sandbox.refresh(another.refresh).oauthError == "invalid_grant")
    let wrong = try await sandbox.send("POST", "/_revoke", ["sdk": "sf", "externalId": "alice", "kind": "x"])
    #expect(wrong.tree?["error"]?["member"] == "kind")
    #expect(try await sandbox.send("POST", "/_revoke", ["externalId": "a", "kind": "access"]).status == 400)
  }
}
