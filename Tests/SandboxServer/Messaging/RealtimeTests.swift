import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The realtime socket of Messaging.
@Suite(.timeLimit(.minutes(1))) struct RealtimeTests {
  let sandbox = TestSandbox()

  static func channel(_ user: String) -> String { "/sdk/apps/\(DemoAccounts.appID)/appusers/\(user)" }

  /// Opens a socket and makes the handshake. Returns the socket and its client id.
  func connect() async throws -> (socket: TestSocket, client: JSON) {
    let socket = try await sandbox.open("/zm/faye")
    let reply = await socket.ask([
      "channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["websocket"], "id": "1",
    ])
    guard case .array(let replies) = reply, let client = replies.first?["clientId"] else {
      Issue.record("no handshake: \(reply)")
      return (socket, .null)
    }
    #expect(replies.first?["successful"] == true)
    #expect(replies.first?["advice"]?["reconnect"] == "retry")
    return (socket, client)
  }

  static func subscribe(
    _ client: JSON, _ user: String, _ credential: [String: JSON], app: String = DemoAccounts.appID
  ) -> JSON {
    var ext: [String: JSON] = ["appId": .string(app), "appUserId": .string(user)]
    ext.merge(credential) { _, last in last }
    return [
      [
        "channel": "/meta/subscribe", "clientId": client, "subscription": .string(channel(user)), "id": "2",
        "ext": .object(ext),
      ]
    ]
  }

  static func first(_ tree: JSON) -> JSON {
    if case .array(let all) = tree { all.first ?? .null } else { tree }
  }

  @Test func `The session's settings name the socket`() async throws {
    let settings = try await sandbox.named("t1").login(sandbox.token("alice")).tree?["settings"]?["realtime"]
    #expect(settings?["enabled"] == true)
    #expect(settings?["baseUrl"] == "ws://127.0.0.1:8000/ns/t1/zm/faye")
  }

  @Test func `A JWT user and an anonymous one subscribe to themselves`() async throws {
    let alice = try #require(try await sandbox.login(sandbox.token("alice")).userID)
    let (socket, client) = try await connect()
    let mine = await socket.ask(Self.subscribe(client, alice, ["jwt": .string(sandbox.token("alice"))]))
    #expect(Self.first(mine)["successful"] == true)
    #expect(Self.first(mine)["subscription"] == .string(Self.channel(alice)))
    #expect(Self.first(mine)["id"] == "2")
    let anonymous = try await sandbox.anonymous()
    let other = await socket.ask(
      Self.subscribe(client, anonymous.id, ["sessionToken": .string(anonymous.session)]))
    #expect(Self.first(other)["successful"] == true)
  }

  @Test func `Whoever may not speak for a user may not subscribe`() async throws {
    let alice = try #require(try await sandbox.login(sandbox.token("alice")).userID)
    _ = try await sandbox.login(sandbox.token("bob"))
    let anonymous = try await sandbox.anonymous()
    let revoked = sandbox.token("alice")
    _ = try await sandbox.login(revoked)
    _ = try await sandbox.send("POST", "/_revoke", ["externalId": "alice"])
    let (socket, client) = try await connect()
    let valid: JSON = .string(sandbox.token("alice"))
    let refused: [(JSON, String)] = [
      (Self.subscribe(client, alice, [:]), "403::Invalid JWT"),
      (Self.subscribe(client, alice, ["jwt": "x.y.z"]), "403::Invalid JWT"),
      (Self.subscribe(client, alice, ["jwt": .string(sandbox.token("alice", ttl: -1))]), "403::Invalid JWT"),
      (Self.subscribe(client, alice, ["jwt": .string(revoked)]), "403::Invalid JWT"),
      (Self.subscribe(client, alice, ["jwt": .string(sandbox.token("bob"))]), "403::Forbidden"),
      (Self.subscribe(client, alice, ["sessionToken": .string(anonymous.session)]), "403::Invalid JWT"),
      (Self.subscribe(client, anonymous.id, ["sessionToken": "wrong"]), "403::Invalid JWT"),
      (Self.subscribe(client, "ffff", ["jwt": valid]), "403::user not found"),
      (Self.subscribe(client, alice, ["jwt": valid], app: "other"), "403::Forbidden"),
      (Self.subscribe(client, alice, ["jwt": valid, "appUserId": "ffff"]), "403::Forbidden"),
    ]
    for (message, error) in refused {
      let reply = Self.first(await socket.ask(message))
      #expect(reply["successful"] == false)
      #expect(reply["error"] == .string(error))
    }
    #expect(try await sandbox.send("GET", "/_state").tree?["zm"]?["subscriptions"] == [])
    #expect(try await sandbox.frames().last?.note?.contains("ext") == true)
  }

  @Test func `The first connect is answered at once, the next is held, one more is not`() async throws {
    let (socket, client) = try await connect()
    let message: JSON = ["channel": "/meta/connect", "clientId": client, "connectionType": "websocket"]
    let expected: [Int] = [0, BayeuxClient.timeout, 0]
    for milliseconds in expected {
      await socket.send(message)
      guard case .send(let text, let delay)? = await socket.next() else {
        Issue.record("no answer")
        return
      }
      #expect(delay == milliseconds)
      #expect(text.contains("/meta/connect"))
    }
    await socket.send(["channel": "/meta/connect", "clientId": client, "advice": ["timeout": 0]])
    guard case .send(_, 0)? = await socket.next() else {
      Issue.record("held against its wish")
      return
    }
  }

  @Test func `A client that is not known must shake hands again`() async throws {
    let (socket, client) = try await connect()
    #expect(Self.first(await socket.ask(["channel": "/meta/disconnect", "clientId": client]))["successful"] == true)
    let reply = Self.first(await socket.ask(["channel": "/meta/connect", "clientId": client]))
    #expect(reply["advice"]?["reconnect"] == "handshake")
    let (_, others) = try await connect()
    #expect(Self.first(await socket.ask(["channel": "/meta/connect", "clientId": others]))["successful"] == false)
  }

  @Test func `What is no Bayeux is refused`() async throws {
    let socket = try await sandbox.open("/zm/faye")
    for frame in ["text", [], 5, ["channel": "/meta/handshake"], ["channel": "/x", "clientId": "y"]] as [JSON] {
      #expect(Self.first(await socket.ask(frame))["successful"] == false)
    }
  }

  @Test func `Merging two anonymous users gives the discarded one a session to go on with`() async throws {
    let gone = try await sandbox.anonymous()
    let survivor = try await sandbox.anonymous()
    let (socket, client) = try await connect()
    _ = await socket.ask(Self.subscribe(client, gone.id, ["sessionToken": .string(gone.session)]))
    let merge = try await sandbox.send("POST", "/_merge", ["from": .string(gone.id), "to": .string(survivor.id)])
    #expect(merge.status == 200)
    let message = Self.first(await socket.nextTree())
    #expect(message["channel"] == .string(Self.channel(gone.id)))
    guard case .array(let events)? = message["data"]?["events"], let event = events.first else {
      Issue.record("no event: \(message)")
      return
    }
    #expect(event["type"] == "user:merge")
    #expect(event["survivingAppUser"] == ["_id": .string(survivor.id)])
    #expect(event["outgoingAppUserId"] == .string(gone.id))
    let fresh = try #require(event["sessionToken"]?.stringValue)
    for (session, status) in [(fresh, 200), (survivor.session, 200), (gone.session, 401)] {
      let probe = try await sandbox.send(
        "GET", "\(TestSandbox.app)/appusers/\(survivor.id)",
        authorization: TestSandbox.basic((survivor.id, session)))
      #expect(probe.status == status)
    }
  }

  @Test func `Merging two identified users discards one external id`() async throws {
    let alice = try #require(try await sandbox.login(sandbox.token("alice")).userID)
    let bob = try #require(try await sandbox.login(sandbox.token("bob")).userID)
    let (socket, client) = try await connect()
    _ = await socket.ask(Self.subscribe(client, alice, ["jwt": .string(sandbox.token("alice"))]))
    let merge = try await sandbox.send("POST", "/_merge", ["from": "alice", "to": "bob"])
    #expect(merge.tree?["event"]?["survivingAppUser"] == ["_id": .string(bob), "userId": "bob"])
    #expect(merge.tree?["event"]?["sessionToken"] == nil)
    #expect(Self.first(await socket.nextTree())["channel"] == .string(Self.channel(alice)))
    let again = try await sandbox.login(sandbox.token("alice")).userID
    #expect(again != alice && again != bob)
    for body in [["from": "bob", "to": "bob"], ["from": "nobody", "to": "bob"], ["to": "bob"]] as [JSON] {
      #expect(try await sandbox.send("POST", "/_merge", body).status == 400)
    }
  }
}
