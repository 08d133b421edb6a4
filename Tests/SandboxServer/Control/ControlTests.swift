import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The control requests other than scripts.
struct ControlTests {
  let sandbox = TestSandbox()

  @Test func `Namespaces don't see each other`() async throws {
    let (one, two) = (sandbox.named("t1"), sandbox.named("t2"))
    _ = try await one.send("POST", "/_control", ["route": "/**", "status": 500, "times": "forever"])
    _ = try await one.send("POST", "/_clock", ["offsetSeconds": 9_000])
    _ = try await one.send("POST", "/_keys", ["kid": "app_demo", "secret": .null])
    #expect(try await one.login(sandbox.token("alice")).status == 500)
    for other in [two, sandbox] {
      #expect(try await other.login(sandbox.token("alice")).status == 200)
      #expect(try await other.notes().count == 1)
      #expect(try await other.send("GET", "/_clock").tree?["offsetSeconds"] == 0)
    }
    #expect(try await sandbox.send("DELETE", "/ns/t1").status == 200)
    #expect(try await one.login(sandbox.token("alice")).status == 200)
  }

  @Test(arguments: ["/ns", "/ns/", "/ns/a%20b/_log", "/ns/\(String(repeating: "x", count: 65))/_log"])
  func `A namespace without a proper name is refused`(path: String) async throws {
    #expect(try await sandbox.send("GET", path).status == 400)
  }

  @Test func `Keys are added, rotated and removed`() async throws {
    var token = DemoToken(externalID: "alice", kid: "app_new", secret: "one", issuedAt: sandbox.clock.now)
    #expect(try await sandbox.login(token.text).isInvalidAuth)
    _ = try await sandbox.send("POST", "/_keys", ["kid": "app_new", "secret": "one"])
    #expect(try await sandbox.login(token.text).status == 200)
    _ = try await sandbox.send("POST", "/_keys", ["kid": "app_new", "secret": "two"])
    #expect(try await sandbox.login(token.text).isInvalidAuth)
    token.secret = "two"
    #expect(try await sandbox.login(token.text).status == 200)
    _ = try await sandbox.send("POST", "/_keys", ["kid": "app_new", "secret": .null])
    #expect(try await sandbox.login(token.text).isInvalidAuth)
    for number in 1...8 {
      let response = try await sandbox.send("POST", "/_keys", ["kid": .string("k\(number)"), "secret": "s"])
      #expect(response.status == 200)
    }
    let eleventh = try await sandbox.send("POST", "/_keys", ["kid": "k9", "secret": "s"])
    #expect(eleventh.tree?["error"]?["member"] == "kid")
  }

  @Test func `Revoking refuses what was issued before and nothing else`() async throws {
    let shown = sandbox.token("alice")
    let unshown = sandbox.token("alice")
    let bobs = sandbox.token("bob")
    #expect(try await sandbox.login(shown).status == 200)
    sandbox.clock.advance(by: 1)
    let late = sandbox.token("alice")
    #expect(try await sandbox.login(late).status == 200)
    _ = try await sandbox.send("POST", "/_revoke", ["externalId": "alice"])
    for token in [shown, unshown, late] { #expect(try await sandbox.login(token).isInvalidAuth) }
    #expect(try await sandbox.login(bobs).status == 200)
    let fresh = sandbox.token("alice")
    for _ in 1...2 { #expect(try await sandbox.login(fresh).status == 200) }
  }

  @Test func `The clock moves dates and can be set to a moment`() async throws {
    #expect(try await sandbox.send("GET", "/_clock").headers["Date"] == ["Fri, 15 Jan 2027 08:00:00 GMT"])
    let moved = try await sandbox.send("POST", "/_clock", ["now": 784_111_777])
    #expect(moved.tree?["now"] == 784_111_777)
    #expect(try await sandbox.send("GET", "/zm").headers["Date"] == ["Sun, 06 Nov 1994 08:49:37 GMT"])
    sandbox.clock.advance(by: 3)
    #expect(try await sandbox.send("GET", "/zm").headers["Date"] == ["Sun, 06 Nov 1994 08:49:40 GMT"])
  }

  @Test(
    arguments: [
      ("/_clock", ["offsetSeconds": "1"], "offsetSeconds"), ("/_clock", ["now": 1, "offsetSeconds": 1], "now"),
      ("/_clock", ["now": 1e300], "now"), ("/_clock", ["time": 1], "time"), ("/_keys", ["secret": "s"], "kid"),
      ("/_keys", ["kid": "k"], "secret"), ("/_keys", ["kid": "k", "secret": ""], "secret"),
      ("/_keys", ["kid": "k", "secret": "s", "sdk": "xx"], "sdk"), ("/_revoke", ["externalId": 5], "externalId"),
      ("/_revoke", [:], "externalId"),
    ] as [(String, JSON, String)])
  func `A mistake names its member`(path: String, body: JSON, member: String) async throws {
    let response = try await sandbox.send("POST", path, body)
    #expect(response.status == 400)
    #expect(response.tree?["error"]?["member"]?.stringValue == member)
  }

  @Test func `What is no JSON object, no method and no control is said so`() async throws {
    for path in ["/_control", "/_clock", "/_keys", "/_revoke"] {
      #expect(try await sandbox.send("POST", path, nil).status == 400)
      #expect(try await sandbox.send("POST", path, "text").status == 400)
      #expect(try await sandbox.send("PATCH", path, [:]).status == 405)
    }
    #expect(try await sandbox.send("GET", "/_what").status == 404)
    #expect(try await sandbox.send("GET", "/_log/x").status == 404)
    #expect(try await sandbox.send("GET", "/_log?since=x").tree?["error"]?["member"] == "since")
  }

  @Test func `The state starts afresh when deleted`() async throws {
    _ = try await sandbox.login(sandbox.token("alice"))
    _ = try await sandbox.send("POST", "/_keys", ["kid": "app_demo", "secret": .null])
    _ = try await sandbox.send("DELETE", "/_state")
    #expect(try await sandbox.send("GET", "/_state").tree?["zm"]?["users"] == [])
    #expect(try await sandbox.notes().isEmpty)
    #expect(try await sandbox.login(sandbox.token("alice")).status == 200)
  }
}
