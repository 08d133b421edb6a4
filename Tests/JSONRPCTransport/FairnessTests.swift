import JSONRPC
import NIOCore
import NIOEmbedded
import Testing

@testable import JSONRPCTransport

/// The share of one connection in its event loop, on a clock that the tests advance.
struct FairnessTests {
  private let channel = EmbeddedChannel()
  private let wire = ChannelWrites()
  private let program = TestProgram()

  private func open(_ allowance: Allowance?) throws {
    let connection = Connection(
      peer: PeerCredentials(pid: 1, uid: 2, gid: 3), allowance: allowance, eventLoop: channel.eventLoop)
    let core = connection.makeCore(ConnectionSettings { $0 == "echo" })
    let handler = ConnectionChannelHandler(core: core)
    core.start(wire: handler, handler: program.makeHandler(connection))
    try channel.pipeline.syncOperations.addHandlers([wire, handler])
    channel.pipeline.fireChannelActive()
  }

  private func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }
  private func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }
  private var accepted: Int { program.seen.accepted.count }
  private let call = #"{"jsonrpc":"2.0","id":1,"method":"echo"}"# + "\n"

  @Test func manyMessagesLeaveTheOthersTheirTurn() throws {
    try open(nil)
    try send(String(repeating: call, count: 100))
    #expect(accepted == 16)
    let reads = wire.reads
    channel.pipeline.read()
    #expect(wire.reads == reads)
    pass(.microseconds(20))
    #expect(accepted == 32)
    pass(.milliseconds(1))
    #expect(accepted == 100)
    #expect(wire.reads == reads + 1)
  }

  @Test func aHalfCloseDuringARestLosesNothing() throws {
    try open(nil)
    try send(String(repeating: call, count: 40))
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(program.seen.closed == 0)
    pass(.milliseconds(1))
    #expect(accepted == 40)
    #expect(program.seen.closed == 1)
  }

  @Test func whatWasSentBeforeGoingAwayIsStillRun() throws {
    try open(nil)
    try send(String(repeating: call, count: 40))
    channel.close(promise: nil)
    #expect(accepted == 16)
    pass(.seconds(1))
    #expect(accepted == 40)
    #expect(program.seen.closed == 1)
  }

  @Test(arguments: ["{", "{\n", "x", "[]\n[]", ""]) func anAnswerThatFindsNobodyEndsTheConnection(text: String) throws {
    let allowance = Allowance()
    try open(allowance)
    wire.fails = true
    if !text.isEmpty { try send(text) }
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    pass(.milliseconds(1))
    #expect(program.seen.closed == 1)
    #expect(allowance.usage == (0, 0))
  }

  @Test func whatAFloodHasLeftBehindIsDropped() throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 10))
    try open(allowance)
    try send(String(repeating: "{\n", count: 100_000))
    channel.close(promise: nil)
    pass(.milliseconds(10))
    #expect(program.seen.closed == 1)
    #expect(allowance.usage == (0, 0))
  }

  @Test func aFloodIsReadAtItsPace() throws {
    // The limit: 40 messages at once, then 40 per second.
    try open(Allowance(limits: AllowanceLimits(callsPerSecond: 10)))
    try send(String(repeating: "{\n", count: 1000))
    pass(.milliseconds(10))
    let reads = wire.reads
    channel.pipeline.read()
    #expect(wire.reads == reads)
    try send(String(repeating: call, count: 3))
    for _ in 0..<40 { pass(.milliseconds(100)) }
    #expect(accepted == 0)
    for _ in 0..<400 { pass(.milliseconds(100)) }
    #expect(accepted == 3)
    #expect(wire.reads > reads)
  }

  @Test("Blank lines count against the message rate")
  func aFloodOfBlankLinesIsReadAtItsPace() throws {
    try open(Allowance(limits: AllowanceLimits(callsPerSecond: 10)))
    try send(String(repeating: "\n", count: 1000))
    let reads = wire.reads
    channel.pipeline.read()
    #expect(wire.reads == reads)
    pass(.seconds(1))
    #expect(wire.reads == reads + 1)
  }

  @Test("Blank lines are no lasting debt of their user")
  func aFloodOfBlankLinesIsPaidFor() throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 500))
    try open(allowance)
    try send(String(repeating: "\n", count: 60_000))
    pass(.seconds(2))
    let now = channel.embeddedEventLoop.now.uptimeNanoseconds
    #expect(allowance.paceAfter(messages: 1, bytes: 0, at: now) == 0)
  }

  @Test("A crowded user has one call at a time on each connection, because its response may be long")
  func aCrowdedUserHasOneCallAtATime() throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000, maxBufferedBytes: 1 << 20))
    try open(allowance)
    allowance.count(buffered: (1 << 20) + 1)
    let slow = (1...3).map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"method\":\"slow\"}\n" }
    try send(slow.joined())
    #expect(accepted == 1)
    allowance.count(buffered: -(1 << 20) - 1)
    try send(slow[1] + slow[2])
    #expect(accepted == 3)
  }

  @Test func longMessagesCostMore() {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 10))
    // The limit: 40 pieces of 2 KiB at once, then 40 per second.
    #expect(allowance.paceAfter(messages: 1, bytes: 39 << 11, at: 0) == 0)
    #expect(allowance.paceAfter(messages: 1, bytes: 39 << 11, at: 0) == 1_000_000_000)
    #expect(allowance.paceAfter(messages: 0, bytes: 100, at: 1_000_000_000) == 0)
  }

  @Test func aRestIsNotAnUnfinishedMessage() throws {
    try open(Allowance(limits: AllowanceLimits(callsPerSecond: 1)))
    for _ in 0..<60 { try send("{\n{") }
    pass(.seconds(11))
    #expect(program.seen.closed == 0)
  }

  @Test func aCrowdedUserGetsAlongWithLittle() throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000, maxBufferedBytes: 1 << 20))
    try open(allowance)
    let text = #"{"jsonrpc":"2.0","id":1,"method":"text","params":{"bytes":100000}}"# + "\n"
    wire.holds = true
    try send(text)
    var reads = wire.reads
    channel.pipeline.read()
    #expect(wire.reads == reads + 1)
    // Another connection of the user exhausts the user's buffer quota.
    allowance.count(buffered: 1 << 20)
    reads = wire.reads
    channel.pipeline.read()
    try send(call)
    #expect(wire.reads == reads)
    #expect(accepted == 1)
    wire.holds = false
    wire.release()
    #expect(wire.reads == reads + 1)
    #expect(accepted == 2)
    // A short unfinished message is then tolerated; a long one ends its connection.
    try send("{" + String(repeating: " ", count: 1000))
    #expect(program.seen.closed == 0)
    try send(String(repeating: " ", count: 70_000))
    pass(.seconds(2))
    #expect(program.seen.closed == 1)
    #expect(allowance.usage == (0, 1 << 20))
  }

  @Test("A batch whose user keeps too much has its later members refused, each with its own answer")
  func aBatchIsCheckedBetweenItsMembers() throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000, maxBufferedBytes: 1 << 20))
    try open(allowance)
    wire.holds = true
    let members = (0..<64).map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"method\":\"text\",\"params\":{\"bytes\":60000}}" }
    // Batches of this size are parsed on the event loop; longer lines would be parsed on another thread.
    for _ in 0..<2 {
      try send("[" + members[..<32].joined(separator: ",") + "]\n")
      pass(.milliseconds(1))
    }
    #expect(accepted == 18)
    #expect(allowance.usage.bytes < (1 << 20) + (200 << 10))
    #expect(allowance.usage.requests == 0)
  }

  @Test("A batch has its later members refused past the bytes that a connection may leave unread")
  func aBatchHasTheConnectionsBound() throws {
    try open(nil)
    wire.holds = true
    let members = (0..<32).map {
      "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"method\":\"text\",\"params\":{\"bytes\":500000}}"
    }
    try send("[" + members.joined(separator: ",") + "]\n")
    #expect(accepted == 9)
  }

  @Test func whoIsHeldUpForItsUserGoesOnWhenThereIsRoom() throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000, maxBufferedBytes: 1 << 20))
    try open(allowance)
    allowance.count(buffered: 1 << 20)
    wire.holds = true
    try send(#"{"jsonrpc":"2.0","id":1,"method":"text","params":{"bytes":100000}}"# + "\n")
    channel.pipeline.read()
    let reads = wire.reads
    allowance.count(buffered: -(1 << 20))
    pass(.seconds(30))
    #expect(wire.reads == reads + 1)
    #expect(program.seen.closed == 0)
  }
}
