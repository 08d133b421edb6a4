import JSONRPC
import NIOCore
import NIOEmbedded
import Testing

@testable import JSONRPCTransport

/// The time for which a drain waits for a peer, on a clock that the tests advance.
struct DrainTimerTests {
  private let channel = EmbeddedChannel()
  private let writes = ChannelWrites(holds: true)
  private let program = TestProgram()
  private let connection: Connection

  init() throws {
    // 40 messages at once, then 40 per second.
    connection = Connection(
      peer: PeerCredentials(pid: 1, uid: 2, gid: 3), allowance: Allowance(limits: AllowanceLimits(callsPerSecond: 10)),
      eventLoop: channel.eventLoop)
    let core = connection.makeCore(ConnectionSettings())
    let handler = ConnectionChannelHandler(core: core)
    core.start(wire: handler, handler: program.makeHandler(connection))
    try channel.pipeline.syncOperations.addHandlers([writes, handler])
    channel.pipeline.fireChannelActive()
  }

  private func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

  private func pass(_ milliseconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .milliseconds(milliseconds)) }

  private var isClosed: Bool {
    channel.embeddedEventLoop.run()
    return program.seen.closed == 1
  }

  /// Sends a request whose response is written in many pieces, and begins the drain.
  private func drainWithOutput() throws {
    try send(#"{"jsonrpc":"2.0","id":1,"method":"text","params":{"bytes":900000}}"# + "\n")
    channel.embeddedEventLoop.run()
    #expect(writes.held.count > 10)
    drain()
  }

  private func drain() {
    connection.drain()
    channel.embeddedEventLoop.run()
    // The kernel's answer to the end of the input.
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  @Test("A peer that reads nothing for a quarter of a second is closed")
  func nothing() throws {
    try drainWithOutput()
    pass(249)
    #expect(!isClosed)
    pass(1)
    #expect(isClosed)
  }

  @Test("A peer that makes progress gets its whole response")
  func progress() throws {
    try drainWithOutput()
    while writes.held.count > 1 {
      pass(20)
      writes.releaseFirst()
    }
    pass(20)
    #expect(!isClosed)
    writes.releaseFirst()
    #expect(isClosed)
  }

  @Test("A peer that reads slowly is closed after three tenths of a second")
  func slowly() throws {
    try drainWithOutput()
    pass(200)
    writes.releaseFirst()
    pass(99)
    #expect(!isClosed)
    pass(1)
    #expect(isClosed)
    #expect(!writes.held.isEmpty)
  }

  @Test("A peer that leaves while it is paused for its message rate is not waited for")
  func gone() throws {
    // The pause lasts longer than half a second.
    try send(String(repeating: "\n", count: 65536))
    connection.drain()
    channel.embeddedEventLoop.run()
    channel.close(promise: nil)
    pass(249)
    #expect(!isClosed)
    pass(1)
    #expect(isClosed)
  }

  @Test("A peer that is paused for its message rate gets no more time by reading")
  func paused() throws {
    try send(String(repeating: "{\n", count: 1000))
    drain()
    for _ in 0..<10 {
      pass(25)
      writes.release()
    }
    #expect(isClosed)
  }
}
