import JSONRPC
import NIOCore
import NIOEmbedded
import Testing

@testable import JSONRPCTransport

/// The time limits of a connection, on a clock that the tests advance.
struct ChannelTimerTests {
  private let channel = EmbeddedChannel()
  private let holding = ChannelWrites(holds: true)
  private let program = TestProgram()
  private let connection: Connection

  init() throws {
    let limits = TransportLimits(maxOutboundBytes: 1000)
    connection = Connection(peer: PeerCredentials(pid: 1, uid: 2, gid: 3), eventLoop: channel.eventLoop)
    let core = connection.makeCore(ConnectionSettings(limits: limits))
    let handler = ConnectionChannelHandler(core: core)
    core.start(wire: handler, handler: program.makeHandler(connection))
    try channel.pipeline.syncOperations.addHandlers([holding, handler])
    channel.pipeline.fireChannelActive()
  }

  private func send(_ text: String) throws {
    try channel.writeInbound(ByteBuffer(string: text))
  }

  private var isClosed: Bool {
    channel.embeddedEventLoop.run()
    return program.seen.closed == 1
  }

  private let text = #"{"jsonrpc":"2.0","id":1,"method":"text","params":{"bytes":2000}}"# + "\n"

  @Test func anUnfinishedFrameHasTenSeconds() throws {
    try send("{")
    channel.embeddedEventLoop.advanceTime(by: .seconds(9))
    try send("\"jsonrpc\"")
    #expect(!isClosed)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
    #expect(!isClosed)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(isClosed)
  }

  @Test("A message that could not be read for a while has its full time again")
  func anUnreadFrameHasItsTime() throws {
    try send("{")
    connection.notify(method: "event", params: ["text": .string(String(repeating: "x", count: 2000))])
    channel.embeddedEventLoop.run()
    channel.pipeline.read()
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(9900))
    holding.release()
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(9900))
    #expect(!isClosed)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
    #expect(isClosed)
  }

  @Test func eachFrameHasItsOwnTime() throws {
    try send("[")
    for _ in 0..<10 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(9))
      try send("]\n[")
      holding.release()
    }
    #expect(!isClosed)
    try send("]\n")
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(!isClosed)
  }

  @Test func stopsReadingWhileThePeerDoesNot() throws {
    try send(text)
    let reads = holding.reads
    channel.pipeline.read()
    #expect(holding.reads == reads)
    // Input that has arrived already is not handled yet either.
    try send(text)
    #expect(program.seen.accepted.count == 1)
    holding.release()
    #expect(program.seen.accepted.count == 2)
    channel.embeddedEventLoop.run()
    holding.release()
    #expect(holding.reads == reads + 1)
  }

  @Test func aPeerThatTakesNothingIsClosedAfterThirtySeconds() throws {
    try send(text)
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(!isClosed)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(isClosed)
  }

  @Test func aPeerThatTakesALittleIsNot() throws {
    for _ in 0..<5 {
      try send(text)
      channel.embeddedEventLoop.advanceTime(by: .seconds(29))
      holding.release()
      channel.embeddedEventLoop.run()
    }
    #expect(!isClosed)
  }

  @Test func aFewUnreadBytesDoNotCloseAnOpenConnection() throws {
    connection.notify(method: "event", params: [:])
    channel.embeddedEventLoop.run()
    #expect(!holding.held.isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(!isClosed)
  }

  @Test func afterAHalfCloseTheyDo() throws {
    connection.notify(method: "event", params: [:])
    channel.embeddedEventLoop.run()
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(!isClosed)
    channel.embeddedEventLoop.advanceTime(by: .seconds(30))
    #expect(isClosed)
  }

  @Test("The write time-out of a long response begins when it is written, however long ago the last one was")
  func aLongResponseHasItsFullTime() throws {
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    try send(#"{"jsonrpc":"2.0","id":1,"method":"text","params":{"bytes":200000}}"# + "\n")
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(!isClosed)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(isClosed)
  }

  @Test func repliesOfOneReadGoOutTogether() throws {
    let line = #"{"jsonrpc":"2.0","id":1,"method":"echo"}"# + "\n"
    try send(line + line + line)
    #expect(holding.held.count == 1)
  }

  @Test func notificationsOfOneTurnGoOutTogether() throws {
    for _ in 0..<10 { connection.notify(method: "event", params: [:]) }
    channel.embeddedEventLoop.run()
    #expect(holding.held.count == 1)
  }
}
