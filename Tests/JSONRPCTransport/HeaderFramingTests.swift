import Foundation
import Glibc
import JSONRPC
import Testing

@testable import JSONRPCTransport

/// Connections whose first byte chooses headers with a Content-Length, over a real socket.
struct HeaderFramingTests {
  private func request(_ method: String, id: Int, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private func note(_ method: String) -> String { #"{"jsonrpc":"2.0","method":"\#(method)"}"# }

  /// Reads until the server closes, without any framing.
  private func rest(of peer: RawPeer) async throws -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    return try await eventually("the end") {
      let count = recv(peer.descriptor, &chunk, chunk.count, 0)
      if count > 0 { bytes += chunk[..<count] }
      return count == 0 || count < 0 && errno != EAGAIN ? String(decoding: bytes, as: UTF8.self) : nil
    }
  }

  @Test("A response has a Content-Length, an empty line, and the same text as a line would have")
  func response() async throws {
    try await withServer { server in
      let peer = try await server.peer(.headers)
      let text = #"{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}"#
      for byte in "Content-Length: 52\r\n\r\n\(text)".utf8 { try await peer.send(bytes: [byte]) }
      peer.endOutput()
      #expect(
        try await rest(of: peer) == "Content-Length: 36\r\n\r\n" + #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    }
  }

  @Test("Responses, batches, errors, notifications and requests of the server have headers")
  func everythingHasHeaders() async throws {
    try await withServer { server in
      let peer = try await server.peer(.headers)
      try await peer.send(message: request("subscribe", id: 1))
      #expect(try await peer.json()["id"] == 1)
      #expect(try await peer.json()["method"] == "event")
      try await peer.send(message: "[\(request("echo", id: 2)),\(request("echo", id: 3)),1]")
      #expect(try await peer.json().arrayValue?.count == 3)
      try await peer.send(message: "{no JSON}")
      #expect(try await peer.json()["error"]?["code"] == -32700)
      try await peer.send(message: "")
      #expect(try await peer.json()["error"]?["code"] == -32700)
      try await peer.send(message: request("ask", id: 4))
      let question = try await peer.json()
      #expect(question["method"] == "question")
      let id = try #require(question["id"]?.stringValue)
      try await peer.send(message: #"{"jsonrpc":"2.0","id":"\#(id)","result":"because"}"#)
      #expect(try await peer.json()["result"] == "because")
      #expect(server.program.seen.connections.first?.outboundBytes == 0)
    }
  }

  @Test("Many messages with headers in one write are answered in order, long ones too")
  func many() async throws {
    try await withServer { server in
      let peer = try await server.peer(.headers)
      let long = #"{"t":"\#(String(repeating: "x\\n", count: 40_000))"}"#
      for number in 0..<200 {
        try await peer.send(message: request("echo", id: number, number % 50 == 0 ? long : "{}"))
      }
      peer.endOutput()
      for number in 0..<200 { #expect(try await peer.json()["id"] == JSON(number)) }
      #expect(try await peer.next() == .end)
    }
  }

  @Test("A text at the limit is accepted, and a longer one is refused before it arrives")
  func limit() async throws {
    try await withServer(limits: TransportLimits(maxFrameBytes: 1000)) { server in
      let peer = try await server.peer(.headers)
      let text = request("echo", id: 1)
      try await peer.send(message: text + String(repeating: " ", count: 1000 - text.utf8.count))
      #expect(try await peer.json()["id"] == 1)
      try await peer.send("Content-Length: 1001\r\n\r\n")
      let error = try await peer.json()
      #expect(error["error"]?["data"]?["reason"] == "frameTooLarge")
      #expect(error["id"]?.isNull == true)
      #expect(try await peer.next() == .end)
    }
  }

  @Test(
    "Bad input gets an error with headers and the end of its connection only",
    arguments: [
      "Content-Length: 1\r\nContent-Length: 1\r\n\r\n1", "Content-Length: -5\r\n\r\n",
      "Content-Length: +5\r\n\r\n{\"a\"}", "content-type: text/plain\r\n\r\n{}", "CONNECT a:1 HTTP/1.1\r\n\r\n",
      "Call me\r\n", "C" + String(repeating: "x", count: 5000), String(repeating: "C: d\r\n", count: 17),
      "Content-Length: 9223372036854775808\r\n\r\n",
    ])
  func badInput(text: String) async throws {
    try await withServer { server in
      let (peer, other) = (try await server.peer(.headers), try await server.peer())
      try await peer.send(text)
      try await peer.send(message: request("echo", id: 1))
      let error = try await peer.json()
      #expect(error["error"]?["code"] == -32600)
      #expect(error["id"]?.isNull == true)
      #expect(try await peer.next() == .end)
      try await other.send(message: request("echo", id: 2))
      #expect(try await other.json()["id"] == 2)
      #expect(server.program.seen.accepted == ["echo"])
    }
  }

  @Test("A length that is too short or too long ends the connection at the next header")
  func lyingLength() async throws {
    try await withServer { server in
      let text = request("echo", id: 1)
      for length in [text.utf8.count - 1, text.utf8.count + 1] {
        let peer = try await server.peer(.headers)
        try await peer.send("Content-Length: \(length)\r\n\r\n\(text)")
        try await peer.send(message: request("echo", id: 2))
        #expect(try await peer.json()["error"]?["code"] == -32700)
        #expect(try await peer.json()["error"]?["code"] == -32600)
        #expect(try await peer.next() == .end)
      }
      #expect(server.program.seen.accepted.isEmpty)
    }
  }

  @Test("A text that does not come in time is answered with an error, after what was accepted before")
  func lateText() async throws {
    try await withServer(limits: TransportLimits(frameTimeout: .milliseconds(50))) { server in
      for text in ["Content-Length: 5\r\n\r\n{", "Content-Length: 5\r\n\r\n", "Content-Le"] {
        let peer = try await server.peer(.headers)
        try await peer.send(message: request("echo", id: 1))
        try await peer.send(text)
        #expect(try await peer.json()["id"] == 1)
        let error = try await peer.json()["error"]
        #expect(error?["message"]?.stringValue?.contains("not complete in time") == true)
        #expect(try await peer.next() == .end)
      }
    }
  }

  @Test("After a half-close whole messages are answered, and a cut one gets an error")
  func halfClose() async throws {
    try await withServer { server in
      let peer = try await server.peer(.headers)
      try await peer.send(message: request("slow", id: 1))
      try await peer.send(message: request("echo", id: 2))
      try await peer.send("Content-Length: 5\r\n\r\n{")
      peer.endOutput()
      #expect(try await peer.json()["id"] == 2)
      #expect(try await peer.json()["error"]?["message"]?.stringValue?.contains("input ended") == true)
      server.program.gate.open()
      #expect(try await peer.json()["id"] == 1)
      #expect(try await peer.next() == .end)
    }
  }

  @Test("A connection keeps its first framing: a line after headers, and a header after lines, end it")
  func mixture() async throws {
    try await withServer { server in
      let headers = try await server.peer(.headers)
      try await headers.send(message: request("echo", id: 1))
      try await headers.send(request("echo", id: 2) + "\n")
      #expect(try await headers.json()["id"] == 1)
      #expect(try await headers.json()["error"]?["code"] == -32600)
      #expect(try await headers.next() == .end)
      let lines = try await server.peer()
      try await lines.send(message: request("echo", id: 3))
      try await lines.send("Content-Length: 2\r\n\r\n{}")
      #expect(try await lines.json()["id"] == 3)
      #expect(try await lines.json()["error"]?["message"]?.stringValue?.contains("header follows a line") == true)
      #expect(try await lines.next() == .end)
    }
  }

  @Test(
    "An HTTP request gets one response with the status 400 that names the framings",
    arguments: ["GET / HTTP/1.1", "POST /x HTTP/1.0", "OPTIONS * HTTP/1.1", "PRI * HTTP/2.0"])
  func http(line: String) async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await peer.send("\(line)\r\nHost: localhost\r\n\r\n" + request("echo", id: 1) + "\n")
      let response = try await rest(of: peer)
      #expect(response.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
      #expect(response.contains("per line") && response.contains("Content-Length in bytes"))
      let parts = response.components(separatedBy: "\r\n\r\n")
      #expect(parts.count == 2)
      #expect(response.contains("Content-Length: \(parts[1].utf8.count)\r\n"))
      #expect(try JSONParser.parse(parts[1])["error"]?["code"] == -32600)
      #expect(server.program.seen.accepted.isEmpty)
    }
  }

  @Test("A peer that goes away with refused bytes unread is forgotten")
  func goneWithBadInput() async throws {
    try await withServer { server in
      for ending in ["C d\r\n", "Content-Length: 99999999\r\n\r\n", "Content-Length: 9\r\n\r\n"] {
        let peer = try await server.peer(.headers)
        let text = note("note")
        // More than the messages of one turn, so that the rest waits while the peer disconnects.
        let messages = String(repeating: "Content-Length: \(text.utf8.count)\r\n\r\n\(text)", count: 40)
        try await peer.send(messages + ending)
        peer.close()
      }
      try await waitUntil("all have ended") { server.program.seen.closed == 3 }
      #expect(server.program.seen.notifications.count == 120)
    }
  }

  @Test("A slow reader with headers gets everything")
  func slowReader() async throws {
    try await withServer(limits: TransportLimits(maxOutboundBytes: 100 << 10)) { server in
      let peer = try await server.peer(.headers)
      for number in 0..<200 { try await peer.send(message: request("text", id: number, #"{"bytes":20000}"#)) }
      peer.endOutput()
      for number in 0..<200 { #expect(try await peer.json()["id"] == JSON(number)) }
      #expect(try await peer.next() == .end)
    }
  }

  @Test("A peer with headers that never reads is not read, and is closed")
  func neverReads() async throws {
    let limits = TransportLimits(maxOutboundBytes: 256 << 10, writeTimeout: .milliseconds(200))
    try await withServer(limits: limits) { server in
      let peer = try await server.peer(.headers)
      while try await peer.send(message: request("text", id: 1, #"{"bytes":50000}"#)) {}
      try await waitUntil("closed") { server.program.seen.closed == 1 }
      #expect(server.program.seen.accepted.count < 2000)
    }
  }
}
