import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// Login, merge and sessions.
struct LoginTests {
  let sandbox = TestSandbox()

  @Test func `The same external id is the same user`() async throws {
    let first = try await sandbox.login(sandbox.token("alice"))
    let second = try await sandbox.login(sandbox.token("alice"))
    let other = try await sandbox.login(sandbox.token("bob"))
    #expect(first.userID != nil)
    #expect(first.userID == second.userID)
    #expect(first.userID != other.userID)
  }

  @Test func `Name and e-mail come from the token`() async throws {
    var token = DemoToken(externalID: "alice", issuedAt: sandbox.clock.now)
    token.name = "Alice van Example"
    token.email = "alice@example.test"
    let user = try await sandbox.login(token.text).tree?["appUser"]
    #expect(user?["givenName"] == "Alice")
    #expect(user?["surname"] == "van Example")
    #expect(user?["email"] == "alice@example.test")
  }

  @Test func `userId in the body must be the token's`() async throws {
    #expect(try await sandbox.login(sandbox.token("alice"), ["userId": "bob"]).isInvalidAuth)
    #expect(try await sandbox.login(sandbox.token("alice"), ["userId": 17]).isInvalidAuth)
  }

  @Test func `An anonymous user with a new external id is promoted and keeps its id`() async throws {
    let anonymous = try await sandbox.anonymous(["conversation": ["type": "personal"]])
    let response = try await sandbox.login(
      sandbox.token("alice"), ["appUserId": .string(anonymous.id), "sessionToken": .string(anonymous.session)])
    #expect(response.userID == anonymous.id)
    #expect(response.tree?["appUser"]?["conversationStarted"] == true)
    #expect(try await sandbox.login(sandbox.token("alice")).userID == anonymous.id)
  }

  @Test func `An anonymous user with a known external id is absorbed`() async throws {
    let alice = try #require(try await sandbox.login(sandbox.token("alice")).userID)
    let anonymous = try await sandbox.anonymous(["client": ["id": "c1"], "conversation": [:]])
    let merge: JSON = ["appUserId": .string(anonymous.id), "sessionToken": .string(anonymous.session)]
    let response = try await sandbox.login(sandbox.token("alice"), merge)
    #expect(response.userID == alice)
    #expect(response.tree?["appUser"]?["conversationStarted"] == true)
    let state = try await sandbox.send("GET", "/_state").tree?["zm"]
    #expect(state?["merges"] == [["from": .string(anonymous.id), "to": .string(alice)]])
    #expect(state?["clients"] == [["id": "c1", "userId": .string(alice)]])
    #expect(state?["sessions"] == [])
    let gone = try await sandbox.send(
      "GET", "\(TestSandbox.app)/appusers/\(anonymous.id)", authorization: "Bearer \(sandbox.token("alice"))")
    #expect(gone.status == 404)
  }

  @Test func `A session token is worthless after the merge, for login and for everything else`() async throws {
    let anonymous = try await sandbox.anonymous()
    let merge: JSON = ["appUserId": .string(anonymous.id), "sessionToken": .string(anonymous.session)]
    #expect(try await sandbox.login(sandbox.token("alice"), merge).status == 200)
    #expect(try await sandbox.login(sandbox.token("alice"), merge).isInvalidAuth)
    #expect(try await sandbox.login(sandbox.token("bob"), merge).isInvalidAuth)
    let probe = try await sandbox.send(
      "GET", "\(TestSandbox.app)/appusers/\(anonymous.id)", authorization: TestSandbox.basic(anonymous))
    #expect(probe.isInvalidAuth)
    #expect(probe.note?.contains("revoked") == true)
  }

  @Test func `A refused login changes nothing`() async throws {
    let anonymous = try await sandbox.anonymous()
    let before = try await sandbox.send("GET", "/_state").tree
    let body: JSON = ["appUserId": .string(anonymous.id), "sessionToken": "wrong", "client": ["id": "c9"]]
    #expect(try await sandbox.login(sandbox.token("alice"), body).isInvalidAuth)
    #expect(try await sandbox.login(sandbox.token("alice"), ["client": ["id": 5]]).status == 400)
    #expect(try await sandbox.login(sandbox.token("alice"), ["sessionToken": "lonely"]).isInvalidAuth)
    #expect(try await sandbox.send("GET", "/_state").tree?["zm"]?["users"] == before?["zm"]?["users"])
    #expect(try await sandbox.send("GET", "/_state").tree?["zm"]?["clients"] == before?["zm"]?["clients"])
  }

  @Test func `Login takes a Bearer token and nothing else`() async throws {
    let anonymous = try await sandbox.anonymous()
    for authorization in [nil, "", "Bearer", TestSandbox.basic(anonymous), "Digest x"] {
      let response = try await sandbox.send("POST", "\(TestSandbox.app)/login", [:], authorization: authorization)
      #expect(response.isInvalidAuth)
    }
  }

  @Test func `Creating a user with an external id needs a token`() async throws {
    #expect(try await sandbox.send("POST", "\(TestSandbox.app)/appusers", ["userId": "alice"]).isInvalidAuth)
  }
}
