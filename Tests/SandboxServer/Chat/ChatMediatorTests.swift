import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The mediator's socket: registration, acknowledgement and bans.
struct ChatMediatorTests {
  let sandbox = TestSandbox()
  static let ok: JSON = ["__type": "register_ack", "status": "ok"]
  static func error(_ word: String) -> JSON { ["__type": "register_ack", "error": .string(word)] }

  @Test func `A register frame is acknowledged, and what follows is not answered`() async throws {
    let idt = try await sandbox.chatExchange(sandbox.chatToken().text).idToken
    let socket = try await sandbox.open("/zc/mediator")
    #expect(await socket.ask(ChatRegisterTests.frame(idt: idt)) == Self.ok)
    await socket.send(["__type": "hello"])
    #expect(await socket.rest().isEmpty)
    #expect(try await sandbox.frames().map { $0.note } == ["register: ok", "registered already"])
    let registrations = try await sandbox.state("zc")["registrations"]?.elements
    #expect(registrations?.map { $0["externalId"]?.stringValue } == ["alice"])
    #expect(registrations?.map { $0["mid"] } == ["m1"])
  }

  @Test(
    arguments: [
      (ChatRegisterTests.frame(idt: "zct_unknown"), "unauthorized"), (["__type": "hello"], "unknown"),
      ("text", "unknown"), (ChatRegisterTests.frame(["accountKey": "x"]), "unknown"),
    ] as [(JSON, String)])
  func `A refused frame gets its error and the socket is closed`(frame: JSON, error: String) async throws {
    let socket = try await sandbox.open("/zc/mediator")
    #expect(await socket.ask(frame) == Self.error(error))
    #expect(await socket.next() == .close(code: 1008))
  }

  @Test func `A ban drops who is connected and who comes`() async throws {
    let idt = try await sandbox.chatExchange(sandbox.chatToken().text).idToken
    let connected = try await sandbox.open("/zc/mediator")
    let other = try await sandbox.open("/zc/mediator")
    #expect(await connected.ask(ChatRegisterTests.frame(idt: idt)) == Self.ok)
    #expect(await other.ask(ChatRegisterTests.frame(mid: "m2")) == Self.ok)
    try await sandbox.control("/_ban", ["externalId": "alice"])
    #expect(await connected.nextTree() == Self.error("dropped"))
    #expect(await connected.next() == .close(code: 1008))
    let again = try await sandbox.open("/zc/mediator")
    #expect(await again.ask(ChatRegisterTests.frame(idt: idt)) == Self.error("dropped"))
    #expect(await other.rest().isEmpty)
    try await sandbox.control("/_ban", ["externalId": "alice", "banned": false])
    let third = try await sandbox.open("/zc/mediator")
    #expect(await third.ask(ChatRegisterTests.frame(idt: idt)) == Self.ok)
  }

  @Test func `An acknowledgement can be scripted or left out`() async throws {
    try await sandbox.control(
      "/_control",
      [
        ["route": "WS /mediator register", "reply": ["__type": "register_ack", "error": "new"]],
        ["route": "WS /mediator register", "drop": true],
      ])
    let socket = try await sandbox.open("/zc/mediator")
    #expect(await socket.ask(ChatRegisterTests.frame()) == Self.error("new"))
    await socket.send(ChatRegisterTests.frame())
    #expect(await socket.ask(ChatRegisterTests.frame()) == Self.ok)
  }

  @Test func `Only the mediator's path is a socket, and visitors are found by id and machine`() async throws {
    guard case .send(let refusal) = await sandbox.upgrade("/zc/other") else {
      Issue.record("opened")
      return
    }
    #expect(refusal.status == 404)
    let idt = try await sandbox.chatExchange(sandbox.chatToken().text).idToken
    let socket = try await sandbox.open("/zc/mediator")
    #expect(await socket.ask(ChatRegisterTests.frame(idt: idt)) == Self.ok)
    for name in ["alice", "m1"] {
      let sent = try await sandbox.control("/_push", ["to": .string(name), "frame": ["hello": 1]])
      #expect(sent["sockets"]?.elements.count == 1)
      #expect(await socket.nextTree() == ["hello": 1])
    }
    #expect(try await sandbox.control("/_push", ["to": "bob", "frame": "x"])["sockets"] == [])
  }
}
