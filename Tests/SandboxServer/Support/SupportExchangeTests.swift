import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The settings and the two exchanges.
struct SupportExchangeTests {
  let sandbox = TestSandbox()

  @Test(arguments: [
    (DemoAccounts.supportAppID, DemoAccounts.supportClientID, "jwt"),
    (DemoAccounts.supportAnonymousAppID, DemoAccounts.supportAnonymousClientID, "anonymous"),
  ])
  func `Each app has its own way to authenticate`(app: String, client: String, kind: String) async throws {
    let response = try await sandbox.settings(app, client: client)
    #expect(response.status == 200)
    #expect(response.tree?["authentication"]?.stringValue == kind)
    #expect(response.tree?["core"]?["authentication"]?.stringValue == kind)
  }

  @Test func `The client must be the app's`() async throws {
    for client in [nil, "somebody", DemoAccounts.supportAnonymousClientID] {
      #expect(try await sandbox.settings(DemoAccounts.supportAppID, client: client).isUnauthenticated)
    }
    #expect(try await sandbox.settings("unknown", client: DemoAccounts.supportClientID).status == 404)
  }

  @Test func `The settings can be made to say something else`() async throws {
    try await sandbox.control("/_options", ["sdk": "zs", "authentication": "anonymous"])
    let changed = try await sandbox.settings(DemoAccounts.supportAppID, client: DemoAccounts.supportClientID)
    #expect(changed.tree?["authentication"] == "anonymous")
    #expect(try await sandbox.exchange("alice").isUnauthenticated)
    try await sandbox.control("/_options", ["sdk": "zs", "authentication": .null])
    #expect(try await sandbox.exchange("alice").status == 200)
  }

  @Test func `A unique id becomes an access token of a user who stays the same`() async throws {
    let first = try await sandbox.exchange("alice")
    let token = try #require(first.accessToken)
    let me = try await sandbox.me(token)
    #expect(me.tree?["user"]?["email"] == "alice@example.test")
    #expect(me.tree?["user"]?["id"] == first.supportUserID)
    let again = try await sandbox.exchange("alice:another-access-token")
    #expect(again.supportUserID == first.supportUserID)
    #expect(again.accessToken != token)
    #expect(try await sandbox.exchange("bob").supportUserID != first.supportUserID)
    let calls = try await sandbox.state("zs")["customerCalls"]?.elements.compactMap { $0["userToken"]?.stringValue }
    #expect(calls == ["alice", "alice:another-access-token", "bob"])
  }

  @Test(arguments: ["nobody", "nobody:1", ":x"])
  func `The customer does not know everybody`(uniqueID: String) async throws {
    #expect(try await sandbox.exchange(uniqueID).isUnauthenticated)
    #expect(try await sandbox.state("zs")["users"] == [])
  }

  @Test(arguments: ["down", "json", "failing", "nonsense"])
  func `A customer's endpoint that does not work is a 401`(mode: String) async throws {
    try await sandbox.control("/_options", ["sdk": "zs", "customer": .string(mode)])
    #expect(try await sandbox.exchange("alice").isUnauthenticated)
    try await sandbox.control("/_options", ["sdk": "zs", "customer": .null])
    #expect(try await sandbox.exchange("alice").status == 200)
  }

  @Test func `The endpoint wants a form, and the vendor verifies its signature`() async throws {
    let endpoint = CustomerEndpoint(secret: "s", mode: .up, refused: [])
    let json = endpoint.answer(contentType: "application/json", body: Data(#"{"user_token":"a"}"#.utf8), now: .now)
    #expect(json?.status == 400)
    try await sandbox.control("/_keys", ["sdk": "zs", "kid": "customer", "secret": "rotated"])
    #expect(try await sandbox.exchange("alice").isUnauthenticated)
    try await sandbox.control("/_keys", ["sdk": "zs", "kid": "vendor", "secret": "rotated"])
    #expect(try await sandbox.exchange("alice").status == 200)
  }

  @Test func `A refused unique id fails while another of the same user works`() async throws {
    try await sandbox.control("/_options", ["sdk": "zs", "refusedIds": ["alice:1"]])
    #expect(try await sandbox.exchange("alice:1").isUnauthenticated)
    #expect(try await sandbox.exchange("alice:2").status == 200)
  }

  @Test func `Agents are forbidden by unique id and by e-mail`() async throws {
    for id in ["agent", "agent:5", "agent@example.test"] { #expect(try await sandbox.exchange(id).status == 403) }
    let anonymous = try await sandbox.exchangeAnonymous(
      ["sdk_guid": .string(TestSandbox.guid), "email": "Agent@example.test"])
    #expect(anonymous.status == 403)
    #expect(try await sandbox.state("zs")["users"] == [])
  }

  @Test func `A guid is the same anonymous user whatever it is called`() async throws {
    let first = try await sandbox.exchangeAnonymous(["sdk_guid": .string(TestSandbox.guid)])
    let second = try await sandbox.exchangeAnonymous(
      ["sdk_guid": .string(TestSandbox.guid.lowercased()), "name": "A", "email": "a@b.test"])
    let other = try await sandbox.exchangeAnonymous(["sdk_guid": .string(UUID().uuidString)])
    #expect(first.status == 200)
    #expect(first.supportUserID == second.supportUserID)
    #expect(first.supportUserID != other.supportUserID)
    let user = try await sandbox.state("zs")["users"]?.elements.first
    #expect(user?["name"] == "A")
    #expect(user?["sdkGuid"]?.stringValue == TestSandbox.guid.lowercased())
  }

  @Test func `An exchange must fit the app's way and have its members`() async throws {
    let wrong = try await sandbox.support(
      "POST", "/zs/access/sdk/anonymous", ["user": ["sdk_guid": .string(TestSandbox.guid)]])
    #expect(wrong.isUnauthenticated)
    #expect(try await sandbox.exchangeAnonymous(["sdk_guid": "x"]).status == 400)
    #expect(try await sandbox.exchangeAnonymous([:]).status == 400)
    for body in [[:], ["user": [:]], ["user": ["token": 5]], ["user": ["token": ""]], "x"] as [JSON] {
      #expect(try await sandbox.support("POST", "/zs/access/sdk/jwt", body).status == 400)
    }
    #expect(try await sandbox.support("GET", "/zs/access/sdk/jwt").status == 405)
    #expect(try await sandbox.support("GET", "/zs/api/mobile/users/me").status == 404)
  }
}
