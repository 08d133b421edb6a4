import Glibc
import JSONRPC
import Testing

@testable import JSONRPCTransport

/// The rows of the protocol's table "Transport", tested over a real socket.
struct SocketTests {
  private func request(_ method: String, id: Int, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"# + "\n"
  }

  @Test func everyMessageIsOneLineAndLineEndsAreTakenAsTheyCome() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send("\r\n\n" + request("echo", id: 1, #"{"t":"a\nb"}"#).dropLast() + "\r\n")
      #expect(try await peer.next() == .line(#"{"jsonrpc":"2.0","id":1,"result":{"t":"a\nb"}}"#))
    }
  }

  @Test func byteByByte() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      for byte in request("echo", id: 1).utf8 { try await peer.send(bytes: [byte]) }
      #expect(try await peer.json()["id"] == 1)
    }
  }

  @Test func manyInOneWriteAreAnsweredInOrder() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send((0..<2000).map { request("echo", id: $0) }.joined())
      for number in 0..<2000 { #expect(try await peer.json()["id"] == JSON(number)) }
    }
  }

  @Test("The params of a long message are prepared off the event loop, those of a refused one not at all")
  func longParams() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let text = { (count: Int) in "{\"t\":\"\(String(repeating: "x", count: count))\"}" }
      try await peer.send(request("echo", id: 1, text(100)))
      #expect(try await peer.json()["id"] == 1)
      #expect(server.program.seen.prepared.isEmpty)
      try await peer.send(request("echo", id: 2, text(5000)) + request("echo", id: 3, text(70_000)))
      #expect(try await peer.json()["id"] == 2)
      #expect(try await peer.json()["id"] == 3)
      // Only `echo` accepts large frames.
      try await peer.send(request("subtract", id: 4, text(70_000)))
      #expect(try await peer.json()["error"]?["data"]?["reason"] == "frameTooLarge")
      let seen = server.program.seen
      #expect(seen.prepared.map(\.method) == ["echo", "echo"])
      #expect(seen.prepared.allSatisfy { !$0.isOnEventLoop })
      #expect(seen.accepted == ["echo", "echo", "echo"])
      #expect(seen.acceptedPrepared == 2)
    }
  }

  @Test("The params of a long notification are prepared off the event loop")
  func longNotifications() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let long = String(repeating: "x", count: 5000)
      let notification = "{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":{\"t\":\"\(long)\"}}"
      try await peer.send(notification + "\n[\(notification)]\n" + request("echo", id: 1))
      #expect(try await peer.json()["id"] == 1)
      let seen = server.program.seen
      #expect(seen.prepared.map(\.method) == ["echo", "echo"])
      #expect(seen.prepared.allSatisfy { !$0.isOnEventLoop })
      #expect(seen.notifications.count == 2 && seen.notificationsPrepared == 2)
    }
  }

  @Test func aLastLineWithoutItsEndIsAFrameAndAllAnswersAreSent() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(request("slow", id: 1) + request("slow", id: 2) + request("echo", id: 3).dropLast())
      peer.endOutput()
      #expect(try await peer.json()["id"] == 3)
      server.program.gate.open()
      let ids = [try await peer.json()["id"]?.intValue, try await peer.json()["id"]?.intValue]
      #expect(Set(ids) == [1, 2])
      #expect(try await peer.next() == .end)
      try await waitUntil("closed") { server.program.seen.closed == 1 }
    }
  }

  @Test func halfCloseWithoutRequestsCloses() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      peer.endOutput()
      #expect(try await peer.next() == .end)
    }
  }

  @Test func aClientThatGoesAwayCancelsItsCalls() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(request("slow", id: 1))
      try await waitUntil("it runs") { server.program.gate.count == 1 }
      peer.close()
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.cancelled == 1)
    }
  }

  @Test func aClientThatHalfClosesAndThenGoesAwayCancelsItsCalls() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(request("slow", id: 1))
      peer.endOutput()
      try await waitUntil("it runs") { server.program.gate.count == 1 }
      peer.close()
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.cancelled == 1)
    }
  }

  @Test func whatWasSentBeforeGoingAwayIsRead() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let line = #"{"jsonrpc":"2.0","method":"note"}"# + "\n"
      try await peer.send(String(repeating: line, count: 100))
      peer.close()
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.notifications.count == 100)
    }
  }

  @Test func aFrameOverTheLimitIsAnsweredAndEndsTheConnection() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let text = String(repeating: "x", count: 1 << 20)
      #expect(try await peer.send(request("echo", id: 1, #"{"t":"\#(text)"}"#)))
      let answer = try await peer.json()
      #expect(answer["error"]?["code"] == -32600)
      #expect(answer["error"]?["data"]?["reason"] == "frameTooLarge")
      #expect(answer["id"]?.isNull == true)
      #expect(try await peer.next() == .end)
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.accepted.isEmpty)
    }
  }

  @Test func aFrameAtTheLimitIsTaken() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let frame = request("echo", id: 1, #"{"t":""}"#)
      let text = String(repeating: "x", count: (1 << 20) - frame.utf8.count + 1)
      try await peer.send(request("echo", id: 1, #"{"t":"\#(text)"}"#))
      #expect(try await peer.json()["result"]?["t"]?.stringValue?.utf8.count == text.utf8.count)
    }
  }

  @Test func unendingJunkIsCutOff() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let junk = [UInt8](repeating: 0x31, count: 64 << 20)
      #expect(try await !peer.send(bytes: junk))
      #expect(try await peer.json()["error"]?["data"]?["reason"] == "frameTooLarge")
      #expect(try await peer.next() == .end)
    }
  }

  @Test func largeFramesAreForMethodsThatDeclareThem() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let params = #"{"t":"\#(String(repeating: "x", count: 64 << 10))"}"#
      try await peer.send(request("sum", id: 7, params))
      let refused = try await peer.json()
      #expect(refused["error"]?["data"]?["reason"] == "frameTooLarge")
      #expect(refused["id"] == 7)
      try await peer.send(request("echo", id: 8, params))
      #expect(try await peer.json()["result"]?["t"] != nil)
      #expect(server.program.seen.accepted == ["echo"])
    }
  }

  @Test func httpIsAParseErrorOnALaterLine() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(request("echo", id: 1) + "GET / HTTP/1.1\r\n" + "GET it\n" + request("echo", id: 2))
      #expect(try await peer.json()["id"] == 1)
      #expect(try await peer.json()["error"]?["code"] == -32700)
      #expect(try await peer.json()["error"]?["code"] == -32700)
      #expect(try await peer.json()["id"] == 2)
    }
  }

  @Test func anUnfinishedFrameEndsTheConnectionAndNobodyElses() async throws {
    try await withServer(limits: TransportLimits(frameTimeout: .milliseconds(50))) { server in
      let peer = try await server.peer()
      let other = try await server.peer()
      try await peer.send(request("echo", id: 1) + "{\"half")
      #expect(try await peer.json()["id"] == 1)
      #expect(try await peer.next() == .end)
      try await other.send(request("echo", id: 2))
      #expect(try await other.json()["id"] == 2)
    }
  }

  @Test func aPeerThatNeverReadsIsNotReadAndThenClosed() async throws {
    let limits = TransportLimits(maxOutboundBytes: 256 << 10, writeTimeout: .milliseconds(200))
    try await withServer(limits: limits) { server in
      let peer = try await server.peer()
      let line = Array(request("text", id: 1, #"{"bytes":50000}"#).utf8)
      // Send until the server stops reading and then closes the connection.
      var isOpen = true
      while isOpen { isOpen = try await peer.send(bytes: line) }
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      // The server accepted what fits into its limit and the kernel's buffers, far less than was sent.
      #expect(server.program.seen.accepted.count < 2000)
    }
  }

  @Test func aSlowReaderGetsEverything() async throws {
    try await withServer(limits: TransportLimits(maxOutboundBytes: 100 << 10)) { server in
      let peer = try await server.peer()
      for number in 0..<200 { try await peer.send(request("text", id: number, #"{"bytes":20000}"#)) }
      peer.endOutput()
      for number in 0..<200 { #expect(try await peer.json()["id"] == JSON(number)) }
      #expect(try await peer.next() == .end)
    }
  }

  @Test func unsentNotificationsAreCountedAndTold() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(request("echo", id: 1))
      #expect(try await peer.json()["id"] == 1)
      let connection = try #require(server.program.seen.connections.first)
      #expect(connection.peer.uid == getuid())
      #expect(connection.peer.pid == getpid())
      let text = [UInt8](repeating: 0x31, count: 1 << 20)
      for _ in 0..<4 { connection.notify(text: text) }
      #expect(connection.outboundBytes > 2 << 20)
      let gate = Gate()
      connection.whenWritable(below: 1000) { gate.open() }
      for _ in 0..<4 { #expect(try await peer.next() == .line(String(repeating: "1", count: 1 << 20))) }
      await gate.wait()
      #expect(connection.outboundBytes < 1000)
    }
  }

  @Test func theProgramCanClose() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send(request("echo", id: 1))
      _ = try await peer.json()
      let connection = try #require(server.program.seen.connections.first)
      connection.notify(method: "bye", params: [:])
      connection.close()
      #expect(try await peer.json()["method"] == "bye")
      #expect(try await peer.next() == .end)
      await connection.closed()
      #expect(connection.isClosed)
      connection.notify(method: "nobody", params: [:])
      #expect(connection.outboundBytes >= 0)
    }
  }

  @Test func aLongMessageKeepsItsPlace() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      let long = String(repeating: "x", count: 300_000)
      var text = ""
      for id in 0..<6 {
        let value = id % 2 == 0 ? long : "short"
        text += #"{"jsonrpc":"2.0","id":\#(id),"method":"echo","params":["\#(value)"]}"# + "\n"
      }
      try await peer.send(text)
      peer.endOutput()
      for id in 0..<6 {
        let answer = try await peer.json()
        #expect(answer["id"]?.intValue == id)
        #expect(answer["result"]?.arrayValue?.first?.stringValue?.count == (id % 2 == 0 ? 300_000 : 5))
      }
      #expect(try await peer.next() == .end)
    }
  }

  @Test func whoGoesAwayDuringALongMessageIsForgotten() async throws {
    try await withServer { server in
      let long = "[" + Array(repeating: "1", count: 400_000).joined(separator: ",") + "]\n"
      for _ in 0..<5 {
        let peer = try await server.peer()
        try await peer.send(long)
        peer.close()
      }
      try await waitUntil("all have ended") { server.program.seen.closed == 5 }
    }
  }
}
