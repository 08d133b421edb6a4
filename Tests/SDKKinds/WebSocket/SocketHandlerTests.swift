import NIOCore
import NIOEmbedded
import NIOWebSocket
import SDKInstances
import Testing

@testable import SDKKinds

/// The socket handler on an event loop whose time the test controls.
@Suite struct SocketHandlerTests {
  /// A handler that counts the reads that reach the transport.
  private final class Reads: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame
    var count = 0
    func read(context: ChannelHandlerContext) { count += 1 }
  }

  private let channel = EmbeddedChannel()
  private let reads = Reads()
  private let handler: SocketHandler

  init() throws {
    var limits = SocketLimits()
    limits.pingInterval = .seconds(10)
    handler = SocketHandler(limits: limits)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.pipeline.syncOperations.addHandlers(reads, handler)
  }

  private func receive(_ text: String) throws {
    try channel.writeInbound(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)))
  }

  private func sent() throws -> [WebSocketOpcode] {
    var opcodes: [WebSocketOpcode] = []
    while let frame = try channel.readOutbound(as: WebSocketFrame.self) { opcodes.append(frame.opcode) }
    return opcodes
  }

  @Test("Reading stops while more than 64 messages wait, and goes on at half")
  func pause() async throws {
    for number in 0..<64 { try receive("\(number)") }
    channel.read()
    #expect(reads.count == 1)
    try receive("64")
    channel.read()
    #expect(reads.count == 1)
    for number in 0..<65 {
      let turn = Turn<String?>()
      handler.take(turn)
      #expect(try await turn.outcome().get() == "\(number)")
      #expect(reads.count == (number < 32 ? 1 : 2))
    }
  }

  @Test("Reading stops for few large messages too")
  func pauseByBytes() throws {
    for _ in 0..<5 { try receive(String(repeating: "x", count: 1 << 20)) }
    channel.read()
    #expect(reads.count == 0)
  }

  @Test("Pings and pongs beyond the budget end the connection", arguments: [WebSocketOpcode.ping, .pong])
  func controlFlood(opcode: WebSocketOpcode) async throws {
    let frame = WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer())
    for _ in 0..<64 { try channel.writeInbound(frame) }
    #expect(try !sent().contains(.connectionClose))
    // The budget fills again.
    for _ in 0..<10 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(1))
      for _ in 0..<16 { try channel.writeInbound(frame) }
    }
    #expect(try !sent().contains(.connectionClose))
    for _ in 0..<64 where channel.isActive { try channel.writeInbound(frame) }
    #expect(try sent().contains(.connectionClose))
    #expect(!channel.isActive, "no further frame is read")
    let turn = Turn<String?>()
    handler.take(turn)
    #expect(
      SocketWait.isNetwork(await SocketWait.failure { () throws(HTTPFailure) in _ = try await turn.outcome().get() }))
  }

  @Test("Frames beyond the budget end the connection, empty or large", arguments: [0, 1 << 20])
  func frameFlood(bytes: Int) throws {
    let data = ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes)
    var count = 0
    while try !sent().contains(.connectionClose) {
      try channel.writeInbound(
        WebSocketFrame(fin: count % 2 == 1, opcode: count % 2 == 1 ? .continuation : .text, data: data))
      count += 1
      try #require(count <= 20_000)
      let turn = Turn<String?>()
      if count % 2 == 0 { handler.take(turn) }
    }
    #expect(bytes == 0 ? count > 10_000 : (60...70).contains(count))
  }

  @Test("A ping goes out each interval as long as the one before was answered with its own payload")
  func pings() throws {
    for _ in 0..<5 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(10))
      let ping = try #require(try channel.readOutbound(as: WebSocketFrame.self))
      #expect(ping.opcode == .ping)
      try channel.writeInbound(WebSocketFrame(fin: true, opcode: .pong, data: ping.data))
    }
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(try sent() == [.ping])
    try channel.writeInbound(WebSocketFrame(fin: true, opcode: .pong, data: ByteBuffer(string: "another")))
    channel.embeddedEventLoop.advanceTime(by: .seconds(9))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("While reading has stopped no pong is missed")
  func pausedPings() throws {
    for number in 0...64 { try receive("\(number)") }
    channel.read()
    channel.embeddedEventLoop.advanceTime(by: .seconds(100))
    #expect(channel.isActive)
    #expect(try sent().isEmpty)
    for _ in 0...64 { handler.take(Turn()) }
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(try sent() == [.ping])
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(!channel.isActive)
  }

  @Test("Closing reads on, so that the peer's answer is seen")
  func closingReads() throws {
    for number in 0...64 { try receive("\(number)") }
    channel.read()
    #expect(reads.count == 0)
    handler.close()
    #expect(reads.count == 1)
    channel.read()
    #expect(reads.count == 2)
    #expect(try sent() == [.connectionClose])
    try channel.writeInbound(WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer()))
    #expect(!channel.isActive)
  }

  @Test("A second consumer is told so, and the first keeps its turn")
  func secondConsumer() async throws {
    let first = Turn<String?>()
    let second = Turn<String?>()
    handler.take(first)
    handler.take(second)
    try receive("a")
    #expect(SocketWait.isNetwork(await failure(second)))
    #expect(try await first.outcome().get() == "a")
  }

  private func failure(_ turn: Turn<String?>) async -> HTTPFailure? {
    if case .failure(let failure) = await turn.outcome() { failure } else { nil }
  }

  @Test("A message for a cancelled turn goes to the next one")
  func cancelledTurn() async throws {
    let first = Turn<String?>()
    handler.take(first)
    first.resolve(.failure(.timeout))
    try receive("a")
    let second = Turn<String?>()
    handler.take(second)
    #expect(try await second.outcome().get() == "a")
  }

  @Test("A message whose sender no longer waits before it is written is not sent")
  func cancelledSend() throws {
    let turn = Turn<Void>()
    turn.resolve(.failure(.timeout))
    handler.send("a", turn)
    #expect(try sent().isEmpty)
  }

  @Test("More than the bound can't wait to be sent")
  func unsent() async throws {
    let turn = Turn<Void>()
    handler.send(String(repeating: "x", count: 4 << 20 + 1), turn)
    if case .success = await turn.outcome() { Issue.record("sent") }
    #expect(try sent().isEmpty)
  }
}
