import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// WebSockets over real connections.
@Suite(.timeLimit(.minutes(2))) struct LiveSocketTests {
  let handshake: JSON = [
    "channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["websocket"], "id": "7",
  ]

  func connect(_ sandbox: LiveSandbox, _ path: String = "/zm/faye") async throws -> LiveSocket {
    try await LiveSocket.open(sandbox, path).get()
  }

  @Test func `A socket opens in its namespace, talks and closes`() async throws {
    try await LiveSandbox.run { sandbox in
      let socket = try await connect(sandbox, "/ns/t1/zm/faye")
      try await socket.send(handshake)
      guard case .array(let replies) = try await socket.nextTree() else { return }
      #expect(replies.first?["successful"] == true)
      #expect(try await sandbox.send("GET", "/_sockets").tree?["sockets"] == [])
      try await socket.send(opcode: 8, Data([0x03, 0xE8]))
      #expect(try await socket.next() == .close(code: 1000))
      #expect(try await socket.next() == .end)
      while try await sandbox.send("GET", "/ns/t1/_sockets").tree?["sockets"] != [] {}
    }
  }

  @Test func `Whoever connects after a socket that the sandbox closed is heard`() async throws {
    try await LiveSandbox.run { sandbox in
      for _ in 0..<40 {
        let socket = try await connect(sandbox, "/zc/mediator")
        try await socket.send(["__type": "register"])
        #expect(try await socket.nextTree()["error"] == "unknown")
        #expect(try await socket.next() == .close(code: 1008))
        #expect(try await socket.next() == .end)
      }
    }
  }

  @Test func `A script refuses the upgrade`() async throws {
    try await LiveSandbox.run { sandbox in
      _ = try await sandbox.send("POST", "/_control", ["route": "/zm/faye", "status": 503])
      _ = try await sandbox.send("POST", "/_control", ["route": "/zm/faye", "hang": true])
      guard case .failure(let refused) = try await LiveSocket.open(sandbox, "/zm/faye") else {
        Issue.record("opened")
        return
      }
      #expect(refused.response.status == 503)
      let hanging = Task { try await LiveSocket.open(sandbox, "/zm/faye") }
      while try await sandbox.send("GET", "/_control").tree?["held"] != 1 {}
      _ = try await sandbox.send("DELETE", "/_control")
      await #expect(throws: RawClient.Failure.self) { _ = try await hanging.value }
    }
  }

  @Test func `Pings get their pong, split messages are put together, and what is no text is refused`() async throws {
    try await LiveSandbox.run { sandbox in
      let socket = try await connect(sandbox)
      try await socket.send(opcode: 9, Data("hello".utf8))
      #expect(try await socket.next() == .pong(Data("hello".utf8)))
      let text = handshake.encoded
      try await socket.send(opcode: 1, text.prefix(10), fin: false)
      try await socket.send(opcode: 9, Data())
      try await socket.send(opcode: 0, Data(text.dropFirst(10)))
      #expect(try await socket.next() == .pong(Data()))
      _ = try await socket.nextTree()
      try await socket.send(opcode: 2, Data([1]))
      #expect(try await socket.next() == .close(code: 1003))
      #expect(try await socket.next() == .end)
    }
  }

  @Test func `What is too large, no UTF-8 or out of order closes the socket`() async throws {
    try await LiveSandbox.run { sandbox in
      for (opcode, payload, code) in [
        (1, Data(count: SandboxLimits.message + 1), 1009), (1, Data([0xff]), 1007), (0, Data(), 1002),
        (9, Data(count: 126), 1002), (3, Data(), 1002),
      ] as [(UInt8, Data, Int)] {
        let socket = try await connect(sandbox)
        try await socket.send(opcode: opcode, payload)
        #expect(try await socket.next() == .close(code: code))
      }
      while try await sandbox.send("GET", "/_sockets").tree?["sockets"] != [] {}
    }
  }

  @Test func `A push reaches the socket, later if told so, and a cut ends it`() async throws {
    try await LiveSandbox.run { sandbox in
      let socket = try await connect(sandbox)
      _ = try await sandbox.send("POST", "/_push", ["frame": ["n": 1], "delayMs": 20])
      #expect(try await socket.nextTree() == ["n": 1])
      _ = try await sandbox.send("POST", "/_push", ["frame": "as it is"])
      #expect(try await socket.next() == .text("as it is"))
      _ = try await sandbox.send("POST", "/_close", [:])
      #expect(try await socket.next() == .end)
    }
  }

  @Test func `An edna client registers with cookies and hears that its token has expired`() async throws {
    try await LiveSandbox.run { sandbox in
      _ = try await sandbox.send("POST", "/ns/e/_tokens", ["token": "good", "clientId": "alice"])
      let socket = try await LiveSocket.open(
        sandbox, "/ns/e/ed/ws", headers: ["Cookie": "Authorization=good; X-Auth-Schema=s"]
      ).get()
      try await socket.send([
        "action": "registerDevice", "correlationId": "1",
        "data": ["clientId": "alice", "providerUid": .string(DemoAccounts.providerUID)],
      ])
      #expect(try await socket.nextTree()["data"]?["deviceAddress"]?.stringValue != nil)
      _ = try await sandbox.send("POST", "/ns/e/_unauthorized", ["clientId": "alice"])
      #expect(try await socket.nextTree()["data"]?["errorDetails"] == "expired")
    }
  }

  @Test func `Many sockets at once, and a client that just leaves`() async throws {
    try await LiveSandbox.run { sandbox in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<30 {
          group.addTask {
            let socket = try await connect(sandbox)
            try await socket.send(handshake)
            _ = try await socket.nextTree()
          }
        }
        try await group.waitForAll()
      }
      while try await sandbox.send("GET", "/_sockets").tree?["sockets"] != [] {}
    }
  }

  @Test func `Stopping ends open sockets`() async throws {
    let server = try SandboxServer()
    let sandbox = LiveSandbox(port: try await server.start(), server: server)
    let socket = try await connect(sandbox)
    try await socket.send(handshake)
    _ = try await socket.nextTree()
    await server.stop()
    #expect(try await socket.next() == .end)
  }

  @Test func `No connection is closed while somebody waits for its bytes`() async throws {
    let pool = LatePool()
    let server = try SandboxServer(pool: pool)
    let sandbox = LiveSandbox(port: try await server.start(), server: server)
    let socket = try await connect(sandbox)
    try await socket.send(handshake)
    _ = try await socket.nextTree()
    await server.stop()
    #expect(pool.closed == 0)
  }
}
