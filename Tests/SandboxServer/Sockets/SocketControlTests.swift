import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// Opening, scripting, pushing to and closing WebSockets of any SDK.
@Suite(.timeLimit(.minutes(1))) struct SocketControlTests {
  let sandbox = TestSandbox()
  let handshake: JSON = [
    "channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["websocket"], "id": "7",
  ]

  static func status(_ reply: SandboxReply) -> Int? {
    if case .send(let response) = reply { response.status } else { nil }
  }

  @Test func `A socket opens where there is one, after a right handshake`() async throws {
    _ = try await sandbox.open("/zm/faye")
    #expect(Self.status(await sandbox.upgrade("/zm/other")) == 404)
    #expect(Self.status(await sandbox.upgrade("/xx")) == 404)
    for (name, value) in [
      ("Connection", "keep-alive"), ("Sec-WebSocket-Key", "short"), ("Sec-WebSocket-Version", "8"),
    ] {
      #expect(Self.status(await sandbox.upgrade("/zm/faye", headers: [name: value])) == 400)
    }
    #expect(try await sandbox.send("GET", "/zm/faye").status == 404)
    guard case .array(let open)? = try await sandbox.send("GET", "/_sockets").tree?["sockets"] else { return }
    #expect(open.map { $0["path"] } == ["/zm/faye"])
  }

  @Test func `Frames are in the log, with their socket`() async throws {
    let socket = try await sandbox.open("/zm/faye")
    let other = try await sandbox.open("/zm/faye")
    _ = await socket.ask(handshake)
    _ = await other.ask(handshake)
    guard case .array(let log)? = try await sandbox.send("GET", "/_log").tree?["requests"] else { return }
    #expect(log.map { $0["method"] } == ["GET", "GET", "WS", "WS"])
    #expect(log.map { $0["socket"]?.doubleValue } == [1, 2, 1, 2])
    #expect(log.map { $0["status"] } == [101, 101, .null, .null])
    #expect(log.last?["path"] == "/zm/faye")
    #expect(try await sandbox.frames().first?.body == handshake)
  }

  @Test func `A script refuses the upgrade, or drops or delays it`() async throws {
    let scripts: [JSON] = [
      ["route": "GET /zm/faye", "status": 503], ["route": "/zm/**", "closeMidBody": true, "passThrough": true],
      ["route": "/faye", "passThrough": true, "delayMs": 1],
    ]
    _ = try await sandbox.send("POST", "/_control", .array(scripts))
    #expect(Self.status(await sandbox.upgrade("/zm/faye")) == 503)
    #expect(await sandbox.upgrade("/zm/faye") == .drop)
    #expect(try await sandbox.send("GET", "/_sockets").tree?["sockets"] == [])
    _ = try await sandbox.open("/zm/faye")
  }

  @Test func `A frame is dropped, answered or its socket closed by script`() async throws {
    let scripts: [JSON] = [
      ["route": "WS /zm/faye /meta/connect", "drop": true], ["route": "WS /zm/faye /meta/handshake", "drop": true],
      ["route": "WS /faye", "reply": ["successful": false, "error": "403::No"]],
      ["route": "WS /zm/*", "reply": "as it is", "passThrough": true], ["route": "WS /zm/**", "close": 1013],
    ]
    #expect(try await sandbox.send("POST", "/_control", .array(scripts)).status == 200)
    let socket = try await sandbox.open("/zm/faye")
    await socket.send(handshake)
    let refused = await socket.ask(handshake)
    #expect(refused == [["channel": "/meta/handshake", "id": "7", "successful": false, "error": "403::No"]])
    #expect(await socket.ask(handshake) == "as it is")
    await socket.send(handshake)
    #expect(await socket.next() == .close(code: 1013))
    #expect(await socket.next() == nil)
    #expect(try await sandbox.frames().map(\.note) == ["scripted", "scripted", "scripted", "scripted"])
    guard case .array(let left)? = try await sandbox.send("GET", "/_control").tree?["pending"] else { return }
    #expect(left == [["route": "WS /zm/faye /meta/connect", "times": 1, "drop": true]])
  }

  @Test func `Pings are answered unless a script for pings says otherwise`() async throws {
    let socket = try await sandbox.open("/zm/faye")
    _ = try await sandbox.send("POST", "/_control", ["route": "WS /zm/faye", "drop": true])
    #expect(await socket.socket.answersPing())
    _ = try await sandbox.send("POST", "/_control", ["route": "WS /zm/faye ping", "drop": true])
    #expect(await !socket.socket.answersPing())
    #expect(await socket.socket.answersPing())
    guard case .array(let open)? = try await sandbox.send("GET", "/_sockets").tree?["sockets"] else { return }
    #expect(open.first?["pings"] == 3)
  }

  @Test func `Frames are pushed to, and sockets closed by, number, user, SDK and path`() async throws {
    let alice = try #require(try await sandbox.login(sandbox.token("alice")).userID)
    let first = try await sandbox.open("/zm/faye")
    let second = try await sandbox.open("/zm/faye")
    guard case .array(let replies) = await second.ask(handshake), let client = replies.first?["clientId"] else {
      Issue.record("no handshake")
      return
    }
    let subscribe = RealtimeTests.subscribe(client, alice, ["jwt": .string(sandbox.token("alice"))])
    _ = await second.ask(subscribe)
    for (selector, sockets) in [
      ([:], [1, 2]), (["to": "alice"], [2]), (["to": .string(alice)], [2]), (["to": "bob"], []), (["socket": 1], [1]),
      (["sdk": "zm", "socket": 2], [2]), (["path": "/zm/faye"], [1, 2]), (["path": "/zm/x"], []),
    ] as [([String: JSON], JSON)] {
      var body = selector
      body["frame"] = ["n": 1]
      #expect(try await sandbox.send("POST", "/_push", .object(body)).tree?["sockets"] == sockets)
    }
    #expect(await first.nextTree() == ["n": 1])
    #expect(try await sandbox.send("POST", "/_close", ["socket": 1]).tree?["sockets"] == [1])
    #expect(try await sandbox.send("POST", "/_close", ["to": "alice", "code": 1001]).tree?["sockets"] == [2])
    #expect(await second.rest().last == .close(code: 1001))
  }

  @Test func `Starting afresh cuts the sockets`() async throws {
    let socket = try await sandbox.open("/zm/faye")
    _ = try await sandbox.send("DELETE", "/_state")
    #expect(await socket.next() == nil)
    await socket.send(handshake)
    #expect(try await sandbox.frames().isEmpty)
  }

  @Test(
    arguments: [
      ("/_control", ["route": "WS", "drop": true], "route"),
      ("/_control", ["route": "WS /a b c", "drop": true], "route"),
      ("/_control", ["route": "WS /a", "status": 200], "status"),
      ("/_control", ["route": "WS /a", "drop": true, "close": true], "drop"),
      ("/_control", ["route": "WS /a", "close": 5], "close"),
      ("/_control", ["route": "WS /a", "delayMs": 5, "passThrough": true], "passThrough"),
      ("/_push", ["to": "alice"], "frame"), ("/_push", ["frame": 1, "sdk": "xx"], "sdk"),
      ("/_push", ["frame": 1, "path": "zm"], "path"), ("/_close", ["code": 1], "code"),
    ] as [(String, JSON, String)])
  func `A mistake names its member`(path: String, body: JSON, member: String) async throws {
    let response = try await sandbox.send("POST", path, body)
    #expect(response.status == 400)
    #expect(response.tree?["error"]?["member"]?.stringValue == member)
  }
}
