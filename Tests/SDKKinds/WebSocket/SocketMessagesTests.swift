import NIOCore
import NIOWebSocket
import SDKInstances
import Testing

@testable import SDKKinds

/// Messages over a live connection, with correct and with faulty servers.
@Suite(.timeLimit(.minutes(1))) struct SocketMessagesTests {
  private func failure(_ socket: any VendorSocket) async -> HTTPFailure? {
    await SocketWait.failure { () throws(HTTPFailure) in _ = try await socket.next() }
  }

  @Test("Texts go both ways in order, ours masked with keys that differ")
  func texts() async throws {
    let pair = try await SocketPair.open()
    for text in ["", "a", String(repeating: "ü", count: 40_000)] {
      try await pair.socket.send(text)
      pair.peer.send(text)
      #expect(try await pair.socket.next() == text)
    }
    let frames = try await SocketWait.until("frames") { pair.peer.frames.count == 3 ? pair.peer.frames : nil }
    #expect(pair.peer.texts.map(\.utf8.count) == [0, 1, 80_000])
    let keys = frames.compactMap { $0.maskKey.map { Array($0) } }
    #expect(Set(keys).count == 3)
    await pair.socket.close()
  }

  @Test("Fragments make one message, with control frames between them")
  func fragments() async throws {
    let pair = try await SocketPair.open()
    let bytes = Array("grüße".utf8)
    pair.peer.send(.text, ByteBuffer(bytes: bytes[..<3]), fin: false)
    pair.peer.send(.ping, ByteBuffer(string: "between"))
    pair.peer.send(.continuation, ByteBuffer(), fin: false)
    pair.peer.send(.continuation, ByteBuffer(bytes: bytes[3...]))
    #expect(try await pair.socket.next() == "grüße")
    let pong = try await SocketWait.until("the pong") { pair.peer.frames.first { $0.opcode == .pong } }
    #expect(pong.unmaskedData == ByteBuffer(string: "between"))
    await pair.socket.close()
  }

  @Test("A frame that comes in halves waits for its rest")
  func halves() async throws {
    let pair = try await SocketPair.open()
    let frame: [UInt8] = [0x81, 5] + Array("hello".utf8)
    for byte in frame { pair.peer.raw([byte]) }
    #expect(try await pair.socket.next() == "hello")
    await pair.socket.close()
  }

  @Test("A message of 4 MiB is taken, a larger one ends the connection with 1009")
  func sizes() async throws {
    let whole = try await SocketPair.open()
    whole.peer.send(String(repeating: "x", count: 4 << 20))
    #expect(try await whole.socket.next()?.utf8.count == 4 << 20)
    whole.peer.send(String(repeating: "x", count: (4 << 20) + 1))
    #expect(await failure(whole.socket) == .tooLarge)
    #expect(try await SocketWait.until("the code") { whole.peer.closeCode } == 1009)

    let parts = try await SocketPair.open()
    parts.peer.send(.text, ByteBuffer(repeating: 0x78, count: 4 << 20), fin: false)
    parts.peer.send(.continuation, ByteBuffer(repeating: 0x78, count: 1))
    #expect(await failure(parts.socket) == .tooLarge)
    #expect(try await SocketWait.until("the code") { parts.peer.closeCode } == 1009)
  }

  static let malformed: [(String, [UInt8], UInt16)] = [
    ("not UTF-8", [0x81, 2, 0xC3, 0x28], 1007),
    ("binary", [0x82, 1, 0], 1003),
    ("reserved bit", [0xC1, 1, 0x78], 1002),
    ("unknown kind", [0x83, 0], 1002),
    ("masked", [0x81, 0x81, 1, 2, 3, 4, 0x78], 1002),
    ("rest of nothing", [0x80, 1, 0x78], 1002),
    ("message within a message", [0x01, 1, 0x78, 0x81, 1, 0x78], 1002),
    ("ping in fragments", [0x09, 0], 1002),
    ("long ping", [0x89, 126, 0, 126], 1002),
    ("close with half a code", [0x88, 1, 3], 1002),
    ("close with a code that must not be sent", [0x88, 2, 0x03, 0xED], 1002),
    ("length beyond all memory", [0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1009),
  ]

  @Test("What a server must not send ends the connection with a failure and a code", arguments: malformed)
  func violations(name: String, bytes: [UInt8], code: UInt16) async throws {
    let pair = try await SocketPair.open()
    pair.peer.raw(bytes)
    #expect(await failure(pair.socket) != nil)
    #expect(try await SocketWait.until("the code") { pair.peer.closeCode } == code)
    _ = try await SocketWait.until("the end") { pair.peer.isClosed ? true : nil }
    #expect(await failure(pair.socket) != nil)
    #expect(await SocketWait.failure { () throws(HTTPFailure) in try await pair.socket.send("a") } != nil)
  }

  @Test("A consumer that comes late gets all messages in order")
  func lateConsumer() async throws {
    let pair = try await SocketPair.open()
    let filler = String(repeating: "x", count: 30_000)
    for number in 0..<600 { pair.peer.send("\(number) \(filler)") }
    for number in 0..<600 { #expect(try await pair.socket.next()?.hasPrefix("\(number) ") == true) }
    await pair.socket.close()
  }

  @Test("A cancelled wait ends and loses no message")
  func cancellation() async throws {
    let pair = try await SocketPair.open()
    for number in 0..<20 {
      let socket = pair.socket
      let waiting = Task { await failure(socket) }
      if number % 2 == 0 { await Task.yield() }
      waiting.cancel()
      #expect(SocketWait.isNetwork(await waiting.value))
    }
    pair.peer.send("still here")
    #expect(try await pair.socket.next() == "still here")
    await pair.socket.close()
  }

  @Test("A peer that does not read stops sending at a bound, and is lost")
  func noReader() async throws {
    var limits = SocketLimits()
    limits.unsentBytes = 1 << 20
    let pair = try await SocketPair.open(limits, pingInterval: 0.2)
    try await pair.peer.channel.setOption(.autoRead, value: false).get()
    let text = String(repeating: "x", count: 1 << 18)
    let end = await SocketWait.failure { () throws(HTTPFailure) in
      while true { try await pair.socket.send(text) }
    }
    #expect(SocketWait.isNetwork(end))
    #expect(SocketWait.isNetwork(await failure(pair.socket)))
  }
}
