import NIOCore
import NIOWebSocket
import SDKInstances
import Testing

@testable import SDKKinds

/// The end of a live connection: by either side, with and without a close frame, and by a missing pong.
@Suite(.timeLimit(.minutes(1))) struct SocketClosingTests {
  private func failure(_ socket: any VendorSocket) async -> HTTPFailure? {
    await SocketWait.failure { () throws(HTTPFailure) in _ = try await socket.next() }
  }

  @Test("We close: the peer sees 1000, and there is no next message")
  func ours() async throws {
    let pair = try await SocketPair.open()
    let socket = pair.socket
    let waiting = Task { try await socket.next() }
    await socket.close()
    #expect(try await waiting.value == nil)
    #expect(try await socket.next() == nil)
    #expect(try await SocketWait.until("the code") { pair.peer.closeCode } == 1000)
    await socket.close()
    #expect(await SocketWait.failure { () throws(HTTPFailure) in try await socket.send("a") } != nil)
  }

  @Test("The peer closes: what it sent before is handed out, then nil, and its code is answered")
  func theirs() async throws {
    let pair = try await SocketPair.open()
    pair.peer.stopAnsweringClose()
    pair.peer.send("last")
    pair.peer.send(.connectionClose, ByteBuffer(bytes: [0x0F, 0xA1] + Array("why".utf8)))
    #expect(try await SocketWait.until("the code") { pair.peer.closeCode } == 4001)
    _ = try await SocketWait.until("the end") { pair.peer.isClosed ? true : nil }
    #expect(try await pair.socket.next() == "last")
    #expect(try await pair.socket.next() == nil)
    #expect(try await pair.socket.next() == nil)
  }

  @Test("A peer that never answers our close costs its deadline and no more")
  func unanswered() async throws {
    var limits = SocketLimits()
    limits.closing = .milliseconds(50)
    let pair = try await SocketPair.open(limits)
    pair.peer.stopAnsweringClose()
    await pair.socket.close()
    _ = try await SocketWait.until("the end") { pair.peer.isClosed ? true : nil }
  }

  @Test("A cancelled close does not wait for the peer")
  func cancelledClose() async throws {
    var limits = SocketLimits()
    limits.closing = .hours(1)
    let pair = try await SocketPair.open(limits)
    pair.peer.stopAnsweringClose()
    let socket = pair.socket
    let closing = Task { await socket.close() }
    closing.cancel()
    await closing.value
    _ = try await SocketWait.until("the end") { pair.peer.isClosed ? true : nil }
  }

  @Test("An abrupt end is a failure, after what came before it")
  func abrupt() async throws {
    let pair = try await SocketPair.open()
    pair.peer.send("before")
    pair.peer.raw([0x81, 10, 0x78])
    pair.peer.drop()
    #expect(try await pair.socket.next() == "before")
    #expect(SocketWait.isNetwork(await failure(pair.socket)))
    #expect(SocketWait.isNetwork(await failure(pair.socket)))
  }

  @Test("A socket that nobody holds closes")
  func dropped() async throws {
    let server = try await TestSocketServer.start()
    do {
      _ = try await SocketPair.client().open(
        SocketRequestParts(instance: "a", url: "ws://127.0.0.1:\(server.port)/"))
    }
    _ = try await SocketWait.until("the end") { server.ended == 1 ? true : nil }
  }

  @Test("A ping without answer ends the connection; another ping's answer does not do")
  func missingPong() async throws {
    let pair = try await SocketPair.open(pingInterval: 0.05)
    pair.peer.stopAnsweringPings()
    // A ping may already have been answered, and another may be on its way.
    let before = pair.peer.frames.count { $0.opcode == .ping }
    pair.peer.send(.pong, ByteBuffer(string: "unasked"))
    #expect(SocketWait.isNetwork(await failure(pair.socket)))
    _ = try await SocketWait.until("the end") { pair.peer.isClosed ? true : nil }
    #expect((1...before + 2).contains(pair.peer.frames.count { $0.opcode == .ping }))
  }
}
