import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The requests on behalf of a user: probe, profile, push and logout.
struct UserRequestTests {
  let sandbox = TestSandbox()

  func signIn(_ name: String, client: String = "c1") async throws -> (path: String, authorization: String) {
    let jwt = sandbox.token(name)
    let id = try #require(try await sandbox.login(jwt, ["client": ["id": .string(client)]]).userID)
    return ("\(TestSandbox.app)/appusers/\(id)", "Bearer \(jwt)")
  }

  @Test func `The probe answers 200, 401, 403 and 404`() async throws {
    let alice = try await signIn("alice")
    let bob = try await signIn("bob", client: "c2")
    let anonymous = try await sandbox.anonymous()
    let mine = "\(TestSandbox.app)/appusers/\(anonymous.id)"
    let probes: [(String, String?, Int)] = [
      (alice.path, alice.authorization, 200),
      (mine, TestSandbox.basic(anonymous), 200),
      (alice.path, nil, 401),
      (alice.path, "Basic !", 401),
      (mine, TestSandbox.basic((anonymous.id, "wrong")), 401),
      (alice.path, bob.authorization, 403),
      (alice.path, TestSandbox.basic(anonymous), 403),
      (mine, alice.authorization, 403),
      ("\(TestSandbox.app)/appusers/ffff", alice.authorization, 404),
      ("/zm/v2/apps/other/appusers/ffff", alice.authorization, 404),
    ]
    for (path, authorization, status) in probes {
      let response = try await sandbox.send("GET", path, authorization: authorization)
      #expect(response.status == status, "\(path) \(authorization ?? "-")")
      #expect(status == 200 || response.tree?["error"]?["code"]?.stringValue != nil)
    }
  }

  @Test func `The profile takes what it knows and refuses other kinds`() async throws {
    let alice = try await signIn("alice")
    let put: JSON = ["givenName": "A", "locale": "de", "properties": ["plan": "gold"], "unknown": 3]
    let response = try await sandbox.send("PUT", alice.path, put, authorization: alice.authorization)
    #expect(response.tree?["appUser"]?["locale"] == "de")
    #expect(response.tree?["appUser"]?["properties"]?["plan"] == "gold")
    #expect(response.tree?["appUser"]?["unknown"] == nil)
    let cleared = try await sandbox.send("PUT", alice.path, ["locale": .null], authorization: alice.authorization)
    #expect(cleared.tree?["appUser"]?["locale"] == nil)
    #expect(cleared.tree?["appUser"]?["givenName"] == "A")
    #expect(try await sandbox.send("PUT", alice.path, ["email": 1], authorization: alice.authorization).status == 400)
  }

  @Test func `Push registers, unregisters with an empty token, and ends with logout`() async throws {
    let alice = try await signIn("alice")
    let path = "\(alice.path.replacing("appusers", with: "appUsers"))/clients/c1"
    func push() async throws -> JSON? {
      guard case .array(let clients)? = try await sandbox.send("GET", "/_state").tree?["zm"]?["clients"] else {
        return nil
      }
      return clients.first?["pushNotificationToken"]
    }
    let authorization = alice.authorization
    _ = try await sandbox.send("PUT", path, ["pushNotificationToken": "p1"], authorization: authorization)
    #expect(try await push() == "p1")
    _ = try await sandbox.send("PUT", path, ["integrationId": "i"], authorization: authorization)
    #expect(try await push() == "p1")
    _ = try await sandbox.send("PUT", path, ["pushNotificationToken": ""], authorization: authorization)
    #expect(try await push() == nil)
    _ = try await sandbox.send("PUT", path, ["pushNotificationToken": "p2"], authorization: authorization)
    let logout = try await sandbox.send(
      "POST", "\(alice.path)/logout", ["client": ["id": "c1"]], authorization: authorization)
    #expect(logout.status == 200)
    #expect(try await sandbox.send("GET", "/_state").tree?["zm"]?["clients"] == [])
  }

  @Test func `Logout needs valid credentials and leaves the token alive`() async throws {
    let alice = try await signIn("alice")
    #expect(try await sandbox.send("POST", "\(alice.path)/logout", [:]).isInvalidAuth)
    let expired = "Bearer \(sandbox.token("alice", ttl: -1))"
    #expect(try await sandbox.send("POST", "\(alice.path)/logout", [:], authorization: expired).isInvalidAuth)
    for _ in 1...2 {
      let response = try await sandbox.send("POST", "\(alice.path)/logout", authorization: alice.authorization)
      #expect(response.status == 200)
    }
    #expect(try await sandbox.send("GET", alice.path, authorization: alice.authorization).status == 200)
  }

  @Test func `A client that signs in as another user is the other user's`() async throws {
    _ = try await signIn("alice", client: "shared")
    let bob = try await signIn("bob", client: "shared")
    let state = try await sandbox.send("GET", "/_state").tree?["zm"]
    #expect(state?["clients"] == [["id": "shared", "userId": .string(String(bob.path.suffix(24)))]])
  }
}
