import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The requests that need an access token, and their failures.
struct SupportResourceTests {
  let sandbox = TestSandbox()

  @Test func `Without a token that is known nothing opens`() async throws {
    for token in [nil, "", "zs_unknown"] {
      #expect(try await sandbox.me(token).isUnauthenticated)
      #expect(try await sandbox.support("GET", "/zs/api/mobile/requests.json", token: token).isUnauthenticated)
      #expect(try await sandbox.support("POST", "\(TestSandbox.devices).json", [:], token: token).isUnauthenticated)
    }
  }

  @Test(arguments: ["alice", "alice@example.test"])
  func `Revoking ends a user's tokens so far and nobody else's`(name: String) async throws {
    let old = try await sandbox.exchange("alice").accessToken
    let bobs = try await sandbox.exchange("bob").accessToken
    try await sandbox.control("/_revoke", ["externalId": .string(name), "sdk": "zs"])
    #expect(try await sandbox.me(old).isUnauthenticated)
    #expect(try await sandbox.me(bobs).status == 200)
    #expect(try await sandbox.me(try await sandbox.exchange("alice").accessToken).status == 200)
    let revoked = try await sandbox.state("zs")["accessTokens"]?.elements.map { $0["revoked"] }
    #expect(revoked == [true, false, false])
  }

  @Test func `An anonymous user is revoked by the guid`() async throws {
    let token = try await sandbox.exchangeAnonymous(["sdk_guid": .string(TestSandbox.guid)]).accessToken
    try await sandbox.control("/_revoke", ["externalId": .string(TestSandbox.guid), "sdk": "zs"])
    #expect(try await sandbox.me(token).isUnauthenticated)
  }

  @Test func `Devices are made and removed by their user`() async throws {
    let alice = try await sandbox.exchange("alice").accessToken
    let bob = try await sandbox.exchange("bob").accessToken
    let body: JSON = [
      "push_notification_device": [
        "identifier": "push-1", "device_type": "iphone", "locale": "en", "token_type": "urban_airship_channel_id",
        "sdk_guid": .string(TestSandbox.guid),
      ]
    ]
    let made = try await sandbox.support("POST", "\(TestSandbox.devices).json", body, token: alice)
    #expect(made.status == 201)
    let device = try #require(made.tree?["push_notification_device"])
    #expect(device["locale"] == "en")
    let id = try #require(device["id"]?.doubleValue.flatMap { Int(exactly: $0) })
    #expect(try await sandbox.support("DELETE", "\(TestSandbox.devices)/\(id).json", token: bob).status == 404)
    #expect(try await sandbox.support("DELETE", "\(TestSandbox.devices)/\(id).json", token: alice).status == 204)
    #expect(try await sandbox.support("DELETE", "\(TestSandbox.devices)/\(id).json", token: alice).status == 404)
    _ = try await sandbox.support("POST", "\(TestSandbox.devices).json", body, token: alice)
    _ = try await sandbox.support("POST", "\(TestSandbox.devices).json", body, token: bob)
    #expect(try await sandbox.state("zs")["devices"]?.elements.count == 1)
    #expect(try await sandbox.support("DELETE", "\(TestSandbox.devices)/push-1.json", token: bob).status == 204)
    #expect(try await sandbox.support("POST", "\(TestSandbox.devices).json", [:], token: bob).status == 400)
  }

  @Test func `Two conflicts and then success`() async throws {
    try await sandbox.control("/_control", ["route": "POST /access/sdk/jwt", "status": 409, "times": 2])
    #expect(try await sandbox.exchange("alice").status == 409)
    #expect(try await sandbox.exchange("alice").status == 409)
    #expect(try await sandbox.exchange("alice").status == 200)
  }

  @Test func `A scripted 401 speaks the vendor's words`() async throws {
    try await sandbox.control("/_control", ["route": "/zs/**", "status": 401])
    #expect(try await sandbox.me("any").isUnauthenticated)
  }

  @Test(
    arguments: [
      ("text", "360000000001"), ("word", "not-a-number"), ("fraction", .number(360_000_000_001.5)),
      ("object", ["id": 360_000_000_001]), ("null", .null), ("missing", nil), ("number", 360_000_000_001),
    ] as [(String, JSON?)])
  func `user_id can be malformed while the token is good`(form: String, id: JSON?) async throws {
    try await sandbox.control("/_options", ["sdk": "zs", "userId": .string(form)])
    let response = try await sandbox.exchange("alice")
    #expect(response.supportUserID == id)
    #expect(response.tree?["authentication"]?.members?.keys.contains("user_id") == (form != "missing"))
    #expect(try await sandbox.me(response.accessToken).status == 200)
  }

  @Test(
    arguments: [
      (["sdk": "zs", "customer": "sleepy"], "customer"), (["sdk": "zs", "refusedIds": "x"], "refusedIds"),
      (["sdk": "zs", "unknown": 1], "unknown"), (["customer": "down"], "sdk"),
      (["sdk": "zm", "customer": "down"], "customer"), (["sdk": "zs", "customer": "down", "userId": 5], "userId"),
    ] as [(JSON, String)])
  func `A wrong option names its member and changes nothing`(body: JSON, member: String) async throws {
    let response = try await sandbox.send("POST", "/_options", body)
    #expect(response.status == 400)
    #expect(response.tree?["error"]?["member"]?.stringValue == member)
    #expect(try await sandbox.send("GET", "/_options").tree?["zs"]?["customer"] == "up")
  }
}
