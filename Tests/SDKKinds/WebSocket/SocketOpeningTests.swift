import NIOCore
import NIOHTTP1
import NIOPosix
import SDKInstances
import Testing

@testable import SDKKinds

/// Opening a socket: the upgrade, TLS, and the other responses of servers.
@Suite(.timeLimit(.minutes(1))) struct SocketOpeningTests {
  private func failure(_ url: String, timeout: Double = 20, caFile: String? = nil) async -> HTTPFailure? {
    await SocketWait.failure { () throws(HTTPFailure) in
      let parts = SocketRequestParts(instance: "a", url: url, timeout: timeout, caFile: caFile)
      await (try SocketPair.client().open(parts)).close()
    }
  }

  @Test("The head of an answer reads alike in pieces of any size", arguments: [1, 7, 1000])
  func pieces(size: Int) throws {
    let text = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 101 Switching\r\nA: 1 \nB:2\r\n\r\nrest"
    var (reader, rest, answer) = (UpgradeAnswerReader(), ByteBuffer(string: text), UpgradeAnswer?.none)
    while answer == nil {
      guard var piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 else { break }
      answer = try reader.read(&piece)
      if answer != nil { rest.moveReaderIndex(to: rest.readerIndex - piece.readableBytes) }
    }
    #expect(answer?.status == 101)
    #expect(answer?.headers.map { "\($0.name)=\($0.value)" } == ["A=1", "B=2"])
    #expect(String(buffer: rest) == "rest")
  }

  @Test("The request carries path, host, header fields and subprotocols")
  func request() async throws {
    let server = try await TestSocketServer.start(.upgrade([("Sec-WebSocket-Protocol", "b")]))
    let socket = try await SocketPair.client().open(
      SocketRequestParts(
        instance: "a", url: "ws://127.0.0.1:\(server.port)/faye?x=1#no", headers: [("X-Client", "é 1")],
        subprotocols: ["a", "b"]))
    let head = try #require(server.heads.first)
    #expect(head.uri == "/faye?x=1")
    #expect(head.headers["host"] == ["127.0.0.1:\(server.port)"])
    #expect(head.headers["x-client"] == ["é 1"])
    #expect(head.headers["sec-websocket-protocol"] == ["a, b"])
    await socket.close()
  }

  @Test("What can't stand in a request is never sent")
  func badRequests() async throws {
    let server = try await TestSocketServer.start()
    let base = SocketRequestParts(instance: "a", url: "ws://127.0.0.1:\(server.port)/")
    for header in [("X", "a\r\nY: b"), ("X Y", "a"), ("", "a"), ("Host", "other"), ("sec-websocket-key", "a")] {
      var parts = base
      parts.headers = [header]
      #expect(SocketWait.isNetwork(await SocketWait.failure { () throws(HTTPFailure) in _ = try await open(parts) }))
    }
    var parts = base
    parts.subprotocols = ["a,b"]
    #expect(SocketWait.isNetwork(await SocketWait.failure { () throws(HTTPFailure) in _ = try await open(parts) }))
    #expect(server.connections == 0)
  }

  private func open(_ parts: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    try await SocketPair.client().open(parts)
  }

  @Test("A refused upgrade gives its status, and redirects are not followed", arguments: [401, 403, 302, 200, 503])
  func refused(status: Int) async throws {
    let server = try await TestSocketServer.start(
      .answer("HTTP/1.1 \(status) Something\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\nno"))
    let place = status == 302 ? "ws://127.0.0.1:1/" : nil
    #expect(await failure("ws://127.0.0.1:\(server.port)/") == .refused(status: status, location: place))
    _ = try await SocketWait.until("the end") { server.ended == 1 ? true : nil }
  }

  @Test(
    "An answer that is no upgrade of ours is a failure",
    arguments: [
      "SSH-2.0-OpenSSH\r\n\r\n",
      "HTTP/1.1 101\r\n\r\n",
      "HTTP/1.1 1e1 Odd\r\n\r\n",
      "HTTP/1.1 101 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 101 OK\r\nSec-W\u{301}ebSocket-Accept: AAAA\r\n\r\n",
      "HTTP/1.1 101 OK\r\nX\0: y\r\n\r\n",
      "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 \r\n\r\n",
    ])
  func noUpgrade(text: String) async throws {
    let server = try await TestSocketServer.start(.answer(text))
    #expect(SocketWait.isNetwork(await failure("ws://127.0.0.1:\(server.port)/")))
  }

  @Test("Early hints don't stand for the answer")
  func hints() async throws {
    let server = try await TestSocketServer.start(.answer("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 401 No\r\n\r\n"))
    #expect(await failure("ws://127.0.0.1:\(server.port)/") == .refused(status: 401))
  }

  @Test("A head without end is too large")
  func endlessHead() async throws {
    let server = try await TestSocketServer.start(
      .answer("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000)))
    #expect(await failure("ws://127.0.0.1:\(server.port)/") == .tooLarge)
  }

  @Test(
    "A server must not choose a subprotocol or extension that was not offered",
    arguments: [
      ("Sec-WebSocket-Protocol", "other"), ("Sec-WebSocket-Extensions", "permessage-deflate"),
    ])
  func unasked(name: String, value: String) async throws {
    let server = try await TestSocketServer.start(.upgrade([(name, value)]))
    #expect(SocketWait.isNetwork(await failure("ws://127.0.0.1:\(server.port)/")))
  }

  @Test("A server that never answers costs the timeout, and its connection is given up")
  func silence() async throws {
    let server = try await TestSocketServer.start(.silence)
    #expect(await failure("ws://127.0.0.1:\(server.port)/", timeout: 0.1) == .timeout)
    _ = try await SocketWait.until("the end") { server.connections == 1 && server.ended == 1 ? true : nil }
  }

  @Test("A TLS handshake that is never answered costs the timeout too")
  func silentTLS() async throws {
    let server = try await TestSocketServer.start(.silence)
    // Loads the certificates first. The socket connects only when they are there, and the timeout includes that.
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    _ = try await TrustedCertificates.of(caFile: nil, timeout: .minutes(1), on: loop)
    #expect(await failure("wss://127.0.0.1:\(server.port)/", timeout: 2) == .timeout)
    _ = try await SocketWait.until("the end") { server.connections == 1 && server.ended == 1 ? true : nil }
  }

  @Test("A cancelled attempt ends, and so does its connection")
  func cancelled() async throws {
    let server = try await TestSocketServer.start(.silence)
    let port = server.port
    let attempt = Task { await failure("ws://127.0.0.1:\(port)/") }
    _ = try await SocketWait.until("the connection") { server.connections == 1 ? true : nil }
    attempt.cancel()
    #expect(SocketWait.isNetwork(await attempt.value))
    _ = try await SocketWait.until("the end") { server.ended == 1 ? true : nil }
  }

  @Test("Nobody listens: a failure of the network")
  func nobody() async throws {
    let port: Int
    do { port = try await TestSocketServer.start().port }
    let end = await failure("ws://127.0.0.1:\(port)/", timeout: 2)
    #expect(SocketWait.isNetwork(end) || end == nil)
    #expect(SocketWait.isNetwork(await failure("https://127.0.0.1/")))
  }

  @Test("TLS by name and by address with the given certificates", arguments: ["localhost", "127.0.0.1"])
  func tls(host: String) async throws {
    let certificate = try TestCertificate()
    let server = try await TestSocketServer.start(tls: TestCertificate.serverContext())
    let socket = try await open(
      SocketRequestParts(instance: "a", url: "wss://\(host):\(server.port)/", caFile: certificate.path))
    let peer = try await server.peer()
    peer.send("over TLS")
    #expect(try await socket.next() == "over TLS")
    try await socket.send("and back")
    _ = try await SocketWait.until("the text") { peer.texts == ["and back"] ? true : nil }
    peer.drop()
    #expect(try await next(socket) == nil)
  }

  /// Returns the next message; `nil` when the connection has ended, in whichever way.
  private func next(_ socket: any VendorSocket) async throws -> String? { try? await socket.next() }
}
