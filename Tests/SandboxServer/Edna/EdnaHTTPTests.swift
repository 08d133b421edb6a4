import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The requests for configuration and history, and the headers that they need.
struct EdnaHTTPTests {
  static let config = "/ed/api/chat/config"
  static let history = "/ed/api/client/history"
  let sandbox = TestSandbox()
  var client: EdnaClient { EdnaClient(sandbox: sandbox) }

  func check(_ path: String, _ headers: [String: String], _ status: Int, _ details: String? = nil) async throws {
    let response = try await client.get(path, headers)
    #expect(response.status == status, "\(path) \(headers)")
    if let details {
      #expect(response.tree == ["error": "UNAUTHORIZED", "errorDetails": .string(details)], "\(headers)")
    }
  }

  @Test func `Configuration comes before the first registration, history only with an address or a signature`()
    async throws
  {
    try await check(Self.config, client.headers(), 200)
    try await check(Self.config, client.headers(proof: ""), 200)
    try await check(Self.config, client.headers(proof: "signature/+="), 200)
    try await check(Self.history, client.headers(), 401, "invalid")
    try await check(Self.history, client.headers(proof: ""), 401, "invalid")
    try await check(Self.history, client.headers(proof: "signature"), 200)
    let config = try await client.get(Self.config, client.headers()).tree
    #expect(config?["settings"]?["pingEnabled"] == true)
    let history = try await client.get(Self.history, client.headers(proof: "s")).tree
    #expect(history?["messages"] == [])
    #expect(history?["allowedToSendMessages"] == true)
  }

  @Test func `X-Client-Token must be encoded, and must be the client's own`() async throws {
    let (_, address) = try await client.connected()
    try await check(Self.history, client.headers(proof: address), 200)
    let bob = EdnaClient(sandbox: sandbox, id: "bob")
    try await check(Self.history, bob.headers(proof: address), 401, "invalid")
    try await check(Self.history, client.headers(proof: "s", ["X-Client-Token": "s:alice"]), 401, "invalid")
    try await check(Self.history, client.headers(proof: "s", ["X-Client-Token": "s%3Abob"]), 401, "invalid")
    try await check(Self.history, client.headers(proof: "s", ["X-Client-Token": "s%3"]), 401, "invalid")
    try await check(Self.history, client.headers(proof: "s", ["X-Header-Encoding": "base64"]), 400)
    var plain = client.headers()
    plain["X-Client-Token"] = "s:alice"
    try await check(Self.history, plain, 200)
    plain["X-Client-Token"] = "s%3Aalice"
    try await check(Self.history, plain, 401, "invalid")
    try await check(Self.history, client.headers(proof: "s", ["X-Ext-Client-ID": ""]), 400)
  }

  @Test func `Another provider is forbidden, another route not there`() async throws {
    try await check(Self.config, client.headers(["X-Provider-Uid": "demo_provider"]), 200)
    try await check(Self.config, client.headers(["X-Provider-Uid": "other"]), 403)
    let upgrade = await sandbox.upgrade("/ed/ws?providerUid=other")
    #expect(SocketControlTests.status(upgrade) == 403)
    #expect(SocketControlTests.status(await sandbox.upgrade("/ed/other")) == 404)
    try await check("/ed/api/chat", client.headers(), 404)
    #expect(try await sandbox.send("POST", Self.config).status == 405)
  }

  @Test func `Whoever has tokens must show a good one, in headers or cookies, not both`() async throws {
    _ = try await sandbox.send("POST", "/_tokens", ["token": "good", "clientId": "alice", "expiresIn": 60])
    _ = try await sandbox.send("POST", "/_tokens", ["token": "old", "clientId": "alice", "expiresIn": -1])
    _ = try await sandbox.send("POST", "/_tokens", ["token": "bobs", "clientId": "bob"])
    let cookie = ["Cookie": "x=y; Authorization=good; X-Auth-Schema=s1"]
    try await check(Self.config, client.headers(), 401, "invalid")
    try await check(Self.config, client.headers(["Authorization": "good", "X-Auth-Schema": "s1"]), 200)
    #expect(try await auth() == ["method": "headers", "token": "good", "scheme": "s1"])
    try await check(Self.config, client.headers(cookie), 200)
    #expect(try await auth() == ["method": "cookies", "token": "good", "scheme": "s1"])
    try await check(Self.config, client.headers(cookie.merging(["Authorization": "good"]) { $1 }), 400)
    try await check(Self.config, client.headers(["Cookie": "Authorization="]), 401, "invalid")
    try await check(Self.config, client.headers(["Authorization": "Bearer good"]), 401, "invalid")
    try await check(Self.config, client.headers(["Authorization": "old"]), 401, "expired")
    try await check(Self.config, client.headers(["Authorization": "bobs"]), 401, "invalid")
    try await check(Self.config, EdnaClient(sandbox: sandbox, id: "carol").headers(), 200)
    sandbox.clock.advance(by: 60)
    try await check(Self.config, client.headers(["Authorization": "good"]), 401, "expired")
    _ = try await sandbox.send("POST", "/_tokens", ["token": "good", "clientId": "alice"])
    try await check(Self.config, client.headers(["Authorization": "good"]), 200)
    _ = try await sandbox.send("POST", "/_revoke", ["sdk": "ed", "externalId": "alice"])
    try await check(Self.config, client.headers(["Authorization": "good"]), 401, "invalid")
  }

  @Test func `A token for everybody makes everybody need one`() async throws {
    _ = try await sandbox.send("POST", "/_tokens", ["token": "any"])
    try await check(Self.config, client.headers(), 401, "invalid")
    try await check(Self.config, client.headers(["Authorization": "any"]), 200)
  }

  @Test(arguments: [401, 403, 500]) func `Scripted failures look like the vendor's`(status: Int) async throws {
    for path in [Self.config, Self.history] {
      _ = try await sandbox.send(
        "POST", "/_control", ["route": .string("GET \(path)"), "status": .number(Double(status))])
      let response = try await client.get(path, client.headers(proof: "s"))
      #expect(response.status == status)
      #expect(response.tree?["error"]?.stringValue != nil)
      try await check(path, client.headers(proof: "s"), 200)
    }
  }

  @Test(
    arguments: [
      ("/_tokens", ["clientId": "a"], "token"), ("/_tokens", ["token": "t", "expiresIn": "1"], "expiresIn"),
      ("/_unauthorized", [:], "clientId"), ("/_unauthorized", ["clientId": "a", "details": "no"], "details"),
      ("/_keys", ["sdk": "ed", "kid": "k", "secret": "s"], "sdk"),
    ] as [(String, JSON, String)])
  func `A mistake names its member`(path: String, body: JSON, member: String) async throws {
    let response = try await sandbox.send("POST", path, body)
    #expect(response.status == 400)
    #expect(response.tree?["error"]?["member"]?.stringValue == member)
  }

  private func auth() async throws -> JSON? {
    guard case .array(let users)? = try await client.state()["users"] else { return nil }
    return users.first { $0["clientId"] == "alice" }?["auth"]
  }
}

extension EdnaClient {
  func headers(_ more: [String: String]) -> [String: String] { headers(proof: nil, more) }
}
