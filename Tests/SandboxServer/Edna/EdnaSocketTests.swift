import Cryptography
import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The three acknowledged steps, the logout and the failures.
@Suite(.timeLimit(.minutes(1))) struct EdnaSocketTests {
  let sandbox = TestSandbox()
  var client: EdnaClient { EdnaClient(sandbox: sandbox) }

  @Test func `The three steps are acknowledged in their order and make the user online`() async throws {
    let socket = try await client.open()
    let device = await socket.ask(client.register())
    #expect(device["action"] == "registerDevice")
    #expect(device["correlationId"] == "c-register")
    let address = try #require(device["data"]?["deviceAddress"]?.stringValue)
    for (type, more) in [
      ("INIT_CHAT", ["data": ["plan": "gold"]]), ("CLIENT_INFO", ["name": "Alice", "authorized": true]),
    ] as [(String, [String: JSON])] {
      let ack = await socket.ask(client.message(type, address, more))
      #expect(ack["action"] == "sendMessage")
      #expect(ack["correlationId"] == .string("c-\(type)"))
      #expect(ack["data"]?["status"] == "sent")
      #expect(ack["data"]?["messageId"]?.stringValue != nil)
    }
    let state = try await client.state()
    let device1: JSON = [
      "clientId": "alice", "deviceUid": "d1", "pnsPushAddress": "p1", "deviceAddress": .string(address),
    ]
    #expect(state["devices"] == [device1])
    guard case .array(let users)? = state["users"] else { return }
    #expect(users.first?["online"] == true)
    #expect(users.first?["info"] == ["name": "Alice", "authorized": true])
    #expect(users.first?["data"] == ["plan": "gold"])
  }

  @Test func `A step too early, for another client or from another device is refused`() async throws {
    let socket = try await client.open()
    #expect(await socket.ask(client.message("INIT_CHAT", "a"))["data"]?["error"] == "BAD_REQUEST")
    let address = try await client.registered(socket)
    let bob = EdnaClient(sandbox: sandbox, id: "bob")
    for early in [
      client.message("CLIENT_INFO", address), client.message("text", address), client.message("INIT_CHAT", "other"),
      bob.message("INIT_CHAT", address), ["action": "sendMessage"], ["action": "what"], [:], "text",
    ] {
      #expect(await socket.ask(early)["data"]?["error"] == "BAD_REQUEST")
    }
    #expect(await socket.ask(client.register(["clientId": .null]))["data"]?["error"] == "BAD_REQUEST")
    #expect(await socket.ask(client.register(["providerUid": "other"]))["data"]?["error"] == "FORBIDDEN")
  }

  @Test func `A device keeps its address, but not as another user's`() async throws {
    let first = try await client.registered(try await client.open())
    #expect(try await client.registered(try await client.open()) == first)
    let bob = EdnaClient(sandbox: sandbox, id: "bob")
    let socket = try await bob.open()
    let other = await socket.ask(bob.register(["deviceAddress": .string(first)]))["data"]?["deviceAddress"]?.stringValue
    #expect(other != nil && other != first)
  }

  @Test func `CLIENT_OFFLINE is recorded and ends the push subscription`() async throws {
    let (socket, address) = try await client.connected()
    #expect(await socket.ask(client.message("CLIENT_OFFLINE", address))["data"]?["status"] == "sent")
    let state = try await client.state()
    guard case .array(let offline)? = state["offline"], case .array(let devices)? = state["devices"] else { return }
    #expect(offline.map { $0["clientId"] } == ["alice"])
    #expect(offline.first?["pnsPushAddress"] == "p1")
    #expect(devices.first?["pnsPushAddress"] == nil)
    let types = try await sandbox.frames().map { $0.body?["data"]?["content"]?["type"]?.stringValue }
    #expect(types == [nil, "INIT_CHAT", "CLIENT_INFO", "CLIENT_OFFLINE"])
  }

  @Test func `The push address changes, and empty ends it`() async throws {
    let (socket, _) = try await client.connected()
    for (sent, kept) in [("p2", "p2"), ("", nil)] as [(JSON, JSON?)] {
      let reply = await socket.ask([
        "action": "updateDevice", "correlationId": "u", "data": ["pnsPushAddress": sent],
      ])
      #expect(reply["correlationId"] == "u")
      #expect(reply["data"]?["error"] == nil)
      guard case .array(let devices)? = try await client.state()["devices"] else { return }
      #expect(devices.first?["pnsPushAddress"] == kept)
    }
  }

  @Test func `Tokens count on the socket too, from the upgrade's headers or cookies`() async throws {
    _ = try await sandbox.send("POST", "/_tokens", ["token": "good", "clientId": "alice", "expiresIn": 60])
    func refusal(_ socket: TestSocket) async -> JSON? { await socket.ask(client.register())["data"] }
    let invalid: JSON = ["error": "UNAUTHORIZED", "errorDetails": "invalid"]
    #expect(await refusal(try await client.open()) == invalid)
    #expect(await refusal(try await EdnaClient(sandbox: sandbox, token: "bad").open()) == invalid)
    let cookies = try await sandbox.open("/ed/ws", headers: ["Cookie": "Authorization=good"])
    #expect(await refusal(cookies)?["deviceAddress"]?.stringValue != nil)
    let (socket, address) = try await EdnaClient(sandbox: sandbox, token: "good").connected()
    sandbox.clock.advance(by: 61)
    #expect(
      await socket.ask(client.message("CLIENT_OFFLINE", address))["data"]
        == ["error": "UNAUTHORIZED", "errorDetails": "expired"])
    #expect(try await client.state()["offline"] == [])
  }

  @Test(arguments: ["expired", "invalid"])
  func `UNAUTHORIZED is pushed to the client's sockets only`(details: String) async throws {
    let (socket, _) = try await client.connected()
    let (other, _) = try await EdnaClient(sandbox: sandbox, id: "bob").connected()
    let told = try await sandbox.send(
      "POST", "/_unauthorized", ["clientId": "alice", "details": .string(details)])
    #expect(told.tree == ["sockets": [1]])
    #expect(
      await socket.nextTree()["data"] == ["error": "UNAUTHORIZED", "errorDetails": .string(details)])
    #expect(await other.rest().isEmpty)
  }

  @Test(arguments: ["registerDevice", "INIT_CHAT", "CLIENT_INFO"])
  func `Each acknowledgement can be left out`(step: String) async throws {
    _ = try await sandbox.send("POST", "/_control", ["route": .string("WS /ed/ws \(step)"), "drop": true])
    let socket = try await client.open()
    let lost = client.register()
    if step == "registerDevice" { await socket.send(lost) }
    let address = try await client.registered(socket)
    if step == "INIT_CHAT" { await socket.send(client.message("INIT_CHAT", address)) }
    #expect(await socket.ask(client.message("INIT_CHAT", address))["correlationId"] == "c-INIT_CHAT")
    if step == "CLIENT_INFO" { await socket.send(client.message("CLIENT_INFO", address)) }
    #expect(await socket.ask(client.message("CLIENT_INFO", address))["correlationId"] == "c-CLIENT_INFO")
    #expect(await socket.rest().isEmpty)
    #expect(try await sandbox.frames().filter { $0.note == "scripted" }.count == 1)
  }

  @Test func `A scripted answer has its message's correlation id`() async throws {
    _ = try await sandbox.send(
      "POST", "/_control", ["route": "WS /ed/ws registerDevice", "reply": ["data": [:]], "close": true])
    let socket = try await client.open()
    #expect(
      await socket.ask(client.register())
        == ["action": "registerDevice", "correlationId": "c-register", "data": [:]])
    #expect(await socket.next() == .close(code: nil))
    #expect(await socket.next() == nil)
  }

  @Test func `The connection breaks in the middle of the logout, before or after it counts`() async throws {
    for (passThrough, recorded) in [(false, 0), (true, 1)] {
      let (socket, address) = try await client.connected()
      let script: JSON = [
        "route": "WS /ed/ws CLIENT_OFFLINE", "close": true, "passThrough": .bool(passThrough),
      ]
      _ = try await sandbox.send("POST", "/_control", script)
      await socket.send(client.message("CLIENT_OFFLINE", address))
      #expect(await socket.next() == .close(code: nil))
      guard case .array(let offline)? = try await client.state()["offline"] else { return }
      #expect(offline.count == recorded)
    }
  }

  @Test func `Encrypted identifiers are shown decrypted, and two encryptions are one user`() async throws {
    let pem = try #require(try await sandbox.send("GET", "/_keys").tree?["ed"]?["publicKey"]?.stringValue)
    let key = try #require(RSAPublicKey(pem: pem))
    let paddings: [(String, RSAPadding)] = [
      ("rsa-oaep-sha256", .oaepSHA256), ("rsa-oaep-sha1", .oaepSHA1), ("rsa-pkcs1", .pkcs1),
    ]
    for (scheme, padding) in paddings {
      let sent = Data(try #require(key.encrypt(Array("alice@example.test".utf8), padding))).base64EncodedString()
      _ = try await EdnaClient(sandbox: sandbox, id: sent).connected(["clientIdIsEncrypted": true])
      guard case .array(let users)? = try await client.state()["users"] else { return }
      #expect(users.map { $0["clientId"] } == ["alice@example.test"])
      #expect(users.first?["encryption"] == .string(scheme))
      #expect(users.first?["encryptedClientId"] == .string(sent))
      #expect(users.first?["info"]?["clientIdIsEncrypted"] == true)
    }
  }

  @Test func `An identifier that is said to be encrypted must be`() async throws {
    let socket = try await client.open()
    let address = try await client.registered(socket)
    _ = await socket.ask(client.message("INIT_CHAT", address))
    let reply = await socket.ask(client.message("CLIENT_INFO", address, ["clientIdIsEncrypted": true]))
    #expect(reply["data"] == ["error": "UNAUTHORIZED", "errorDetails": "invalid"])
  }
}
