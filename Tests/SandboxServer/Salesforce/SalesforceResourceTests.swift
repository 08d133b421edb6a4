import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The REST API, the versions and addresses at which it is served, and the scripted failures.
struct SalesforceResourceTests {
  let sandbox = TestSandbox()

  @Test func `Any API version is served, and nothing without a session`() async throws {
    let tokens = try await sandbox.grant()
    for version in ["v59.0", "v23.0", "v100.0"] {
      #expect(try await sandbox.limits(tokens.access, at: "/sf/services/data/\(version)/limits").status == 200)
    }
    for version in ["59.0", "v59", "v59.1", "v.0", "vx.0"] {
      #expect(try await sandbox.limits(tokens.access, at: "/sf/services/data/\(version)/limits").status == 404)
    }
    for token in [nil, "", "00D!unknown"] {
      #expect(try await sandbox.limits(token).isInvalidSession)
      #expect(try await sandbox.userInfo(token).isBadToken)
    }
  }

  @Test func `A moved organisation serves its new tokens at the new instance only`() async throws {
    let tokens = try await sandbox.grant()
    try await sandbox.control("/_options", ["sdk": "sf", "instance": "na2"])
    let answer = try #require(try await sandbox.refresh(tokens.refresh).tree)
    #expect(answer["instance_url"] == "http://127.0.0.1:8000/sf/instances/na2")
    #expect(try await sandbox.limits(answer.access).isInvalidSession)
    let moved = "/sf/instances/na2/services/data/v59.0/limits"
    #expect(try await sandbox.limits(answer.access, at: moved).status == 200)
    #expect(try await sandbox.limits(tokens.access, at: moved).isInvalidSession)
    let path = "/sf/instances/na2/services/oauth2/token"
    #expect(try await sandbox.refresh(tokens.refresh, at: path).status == 200)
    #expect(try await sandbox.send("POST", "/_options", ["sdk": "sf", "instance": "a/b"]).status == 400)
  }

  @Test func `A community takes the tokens and refreshes them`() async throws {
    let tokens = try await sandbox.grant("alice", ["community": true])
    #expect(tokens["sfdc_community_url"] == "http://127.0.0.1:8000/sf/communities/support")
    #expect(tokens["sfdc_community_id"]?.stringValue?.isEmpty == false)
    let data = "/sf/communities/support/services/data/v59.0/limits"
    #expect(try await sandbox.limits(tokens.access, at: data).status == 200)
    let path = "/sf/communities/support/services/oauth2/token"
    #expect(try await sandbox.refresh(tokens.refresh, at: path).status == 200)
  }

  @Test func `Devices are made and removed by their user`() async throws {
    let (alice, bob) = (try await sandbox.grant().access, try await sandbox.grant("bob").access)
    let path = "\(TestSandbox.data)/sobjects/MobilePushServiceDevice"
    let body: JSON = ["ConnectionToken": "push-1", "ServiceType": "Apple"]
    let bearer = { (token: String?) in "Bearer \(token ?? "")" }
    let made = try await sandbox.send("POST", path, body, authorization: bearer(alice))
    #expect(made.status == 201)
    let id = try #require(made.tree?["id"]?.stringValue)
    #expect(try await sandbox.state("sf")["devices"]?.elements.map { $0["ConnectionToken"] } == ["push-1"])
    #expect(try await sandbox.send("DELETE", "\(path)/\(id)", authorization: bearer(bob)).status == 404)
    #expect(try await sandbox.send("DELETE", "\(path)/\(id)", authorization: bearer(alice)).status == 204)
    #expect(try await sandbox.send("DELETE", "\(path)/\(id)", authorization: bearer(alice)).status == 404)
    #expect(try await sandbox.send("POST", path, [:], authorization: bearer(alice)).status == 400)
    #expect(try await sandbox.send("POST", path, body).isInvalidSession)
  }

  @Test func `A scripted status has the form of its path`() async throws {
    let tokens = try await sandbox.grant()
    try await sandbox.control("/_control", ["route": "/services/data/**", "status": 401, "times": "forever"])
    for _ in 1...3 { #expect(try await sandbox.limits(tokens.access).isInvalidSession) }
    try await sandbox.control("/_control", ["route": "/services/oauth2/userinfo", "status": 403])
    #expect(try await sandbox.userInfo(tokens.access).isBadToken)
    try await sandbox.control("/_control", ["route": "/services/oauth2/token", "status": 400])
    #expect(try await sandbox.refresh(tokens.refresh).oauthError == "invalid_grant")
    for error in ["invalid_client_id", "inactive_user", "rate_limit_exceeded"] {
      try await sandbox.control(
        "/_control",
        ["route": "/services/oauth2/token", "status": 400, "body": ["error": .string(error)]])
      #expect(try await sandbox.refresh(tokens.refresh).oauthError == error)
    }
    #expect(try await sandbox.refresh(tokens.refresh).status == 200)
  }

  @Test func `The lifetime can be changed for what comes next`() async throws {
    let tokens = try await sandbox.grant()
    try await sandbox.control("/_options", ["sdk": "sf", "ttl": 5])
    let short = try await sandbox.refresh(tokens.refresh).tree?.access
    sandbox.clock.advance(by: 6)
    #expect(try await sandbox.limits(short).isInvalidSession)
    #expect(try await sandbox.limits(tokens.access).status == 200)
  }
}
