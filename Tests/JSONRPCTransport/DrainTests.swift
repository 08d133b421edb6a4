import JSONRPC
import Testing

@testable import JSONRPCTransport

/// A drain with a grace that no test waits for: no peer can use it up.
@Suite struct DrainTests {
  private static let grace = Duration.seconds(600)

  /// A request whose response is longer than what the sockets hold.
  private static let long = #"{"jsonrpc":"2.0","id":1,"method":"text","params":{"bytes":900000}}"# + "\n"

  private func closes(_ server: TestServer) async throws {
    try await waitUntil("the connection is closed") { server.program.seen.closed == 1 }
  }

  @Test("A drain does not wait for a peer that reads nothing")
  func deaf() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(Self.long + Self.long)
      try await waitUntil("both are accepted") { server.program.seen.accepted.count == 2 }
      server.listener.drain(grace: Self.grace)
      try await closes(server)
      withExtendedLifetime(peer) {}
    }
  }

  @Test("A drain waits for a call whose peer reads nothing, and then not for the peer")
  func deafAfterACall() async throws {
    try await withServer { server in
      let (peer, idle) = (try await server.peer(), try await server.peer())
      try await peer.send(#"{"jsonrpc":"2.0","id":2,"method":"slow"}"# + "\n" + Self.long)
      try await waitUntil("it runs") { server.program.gate.count == 1 && server.program.seen.accepted.count == 2 }
      server.listener.drain(grace: Self.grace)
      #expect(try await idle.next() == .end)
      #expect(server.program.seen.cancelled == 0)
      server.program.gate.open()
      try await waitUntil("both are closed") { server.program.seen.closed == 2 }
      #expect(server.program.seen.ran == 1)
      withExtendedLifetime(peer) {}
    }
  }

  @Test("A peer that reads a few bytes at a time is not waited for")
  func slow() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(Self.long + Self.long)
      try await waitUntil("both are accepted") { server.program.seen.accepted.count == 2 }
      server.listener.drain(grace: Self.grace)
      try await waitUntil("the connection is closed") {
        peer.drop(16)
        return server.program.seen.closed == 1
      }
    }
  }

  @Test("A connection whose admission is not decided yet is refused with shuttingDown")
  func lateAdmission() async throws {
    let (admission, begun) = (Gate(), Gate())
    let admit: Listener.Admission = { _ in
      begun.open()
      return .pending {
        await admission.wait()
        return .admitted(nil)
      }
    }
    try await withServer(admit: admit) { server in
      let peer = try await server.peer()
      await begun.wait()
      server.listener.drain(grace: Self.grace)
      #expect(try await peer.json()["error"]?["data"]?["reason"] == "shuttingDown")
      #expect(try await peer.next() == .end)
      admission.open()
    }
  }
}
