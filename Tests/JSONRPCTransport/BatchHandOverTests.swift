import JSONRPC
import Testing

@testable import JSONRPCTransport

/// Batches of a connection that is handed over to another process. A batch is written as the words of its members: methods with
/// an id, `~method` for a notification, `bad` for an element that is no message.
struct BatchHandOverTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let batch: String
    /// The methods that the first process runs to their end, sorted.
    var first: [String] = []
    /// The methods that the next process runs, sorted.
    var next: [String] = []
    /// The number of responses that travel; `nil` if the first process answers the batch.
    var travelling: Int?
    var maxInFlight = 64
    var testDescription: String { batch }
  }

  static let cases = [
    Case(batch: "read read"),
    Case(batch: "write write read", first: ["write", "write"]),
    Case(batch: "wait", next: ["wait"], travelling: 0),
    Case(batch: "wait wait", next: ["wait", "wait"], travelling: 0),
    Case(batch: "read wait", next: ["wait"], travelling: 1),
    Case(batch: "write wait", first: ["write"], next: ["wait"], travelling: 1),
    Case(batch: "wait write read wait", first: ["write"], next: ["wait", "wait"], travelling: 2),
    Case(batch: "wait ~write", first: ["write"], next: ["wait"], travelling: 0),
    Case(batch: "write ~wait", first: ["write"], next: ["wait"]),
    Case(batch: "wait ~wait", next: ["wait", "wait"], travelling: 0),
    Case(batch: "wait bad bad", next: ["wait"], travelling: 2),
    Case(batch: "bad ~wait", next: ["wait"]),
    // The response must be written by the process that has run the member.
    Case(batch: "follow wait", first: ["follow"]),
    // Members wait in the connection's queue.
    Case(
      batch: "wait wait write wait read", first: ["write"], next: ["wait", "wait", "wait"], travelling: 2,
      maxInFlight: 1),
    Case(
      batch: Array(repeating: "wait", count: 64).joined(separator: " "), next: Array(repeating: "wait", count: 64),
      travelling: 0, maxInFlight: 8),
  ]

  /// Returns the text of a batch, whose requests have their positions as ids.
  private static func text(_ batch: String) -> String {
    let members = batch.split(separator: " ").enumerated().map { index, word -> String in
      switch word {
      case "bad": "1"
      case _ where word.hasPrefix("~"): #"{"jsonrpc":"2.0","method":"\#(word.dropFirst())"}"#
      default: #"{"jsonrpc":"2.0","id":\#(index),"method":"\#(word)"}"#
      }
    }
    return "[\(members.joined(separator: ","))]"
  }

  /// Returns the ids that responses to a batch have, sorted: -1 for `null`.
  private static func ids(of batch: String) -> [Int] {
    batch.split(separator: " ").enumerated().filter { !$0.element.hasPrefix("~") }
      .map { $0.element == "bad" ? -1 : $0.offset }.sorted()
  }

  private static func ids(in answer: JSON) -> [Int] {
    (answer.arrayValue ?? []).map { $0["id"]?.intValue ?? -1 }.sorted()
  }

  /// Returns the state after it was written and read.
  private static func passed(_ state: ConnectionHandOver) throws -> ConnectionHandOver {
    var state = state
    state.inode = 1
    let read = ConnectionHandOver.decode(state.encoded)
    #expect(read == [state])
    return try #require(read.first)
  }

  /// Returns the messages that a connection has sent, after its end.
  private static func messages(_ pair: InMemoryConnection) async -> [JSON] {
    var messages: [JSON] = []
    for await message in pair.lines { messages.append(message) }
    return messages
  }

  @Test("A batch is answered once and completely, and runs each member once", arguments: cases)
  func isCompleted(_ test: Case) async throws {
    let (first, next) = (HandOverProgram(leavesCalls: true), HandOverProgram(leavesCalls: false))
    let settings = ConnectionSettings(limits: TransportLimits(maxInFlight: test.maxInFlight))
    let pair = InMemoryConnection(settings: settings) { _ in first.makeHandler() }
    let waiting = test.batch.split(separator: " ").count { $0.hasSuffix("wait") }
    pair.send(Self.text(test.batch))
    try await waitUntil("the calls wait") { first.gate.count == min(waiting, test.maxInFlight) }
    pair.connection.beginHandOver()
    first.gate.open()
    let handed = try #require(try await pair.handOver())
    let state = try Self.passed(handed)
    let early = await Self.messages(pair)
    #expect(first.ran == test.first)
    #expect(state.batches.map(\.count) == (test.travelling.map { [$0] } ?? []))
    #expect(state.requests.allSatisfy { test.travelling != nil || $0.batch == nil })

    let later = InMemoryConnection(settings: settings, adopting: state) { _ in next.makeHandler() }
    try await waitUntil("the calls have run") { next.ran == test.next }
    later.endInput()
    let answers = early + (await Self.messages(later))
    #expect(answers.count == 1, "\(answers)")
    #expect(answers.first.map { Self.ids(in: $0) } == Self.ids(of: test.batch))
    #expect((test.travelling == nil) == (early.count == 1))
    let refused = answers.first?.arrayValue?.filter { $0["error"]?["data"]?["reason"] == "shuttingDown" }
    #expect(refused?.count == (test.batch.hasPrefix("follow") ? 1 : 0))
    // A call that the next process runs is not reported as refused before.
    #expect(first.refused.count == refused?.count && next.refused.isEmpty)
  }

  @Test("Two batches and a call travel in order, and again to a third process")
  func travelTwice() async throws {
    let programs = [true, true, false].map { HandOverProgram(leavesCalls: $0) }
    var states: [ConnectionHandOver] = []
    for program in programs.dropLast() {
      let pair = InMemoryConnection(adopting: states.last) { _ in program.makeHandler() }
      if states.isEmpty {
        pair.send(#"[{"jsonrpc":"2.0","id":"a","method":"wait"},{"jsonrpc":"2.0","id":"b","method":"write"}]"#)
        pair.send(#"{"jsonrpc":"2.0","id":"c","method":"wait"}"#)
        pair.send(#"[{"jsonrpc":"2.0","id":"d","method":"wait"},{"jsonrpc":"2.0","id":"e","method":"wait"}]"#)
      }
      try await waitUntil("the calls wait") { program.gate.count == 4 }
      pair.connection.beginHandOver()
      program.gate.open()
      let handed = try #require(try await pair.handOver())
      states.append(try Self.passed(handed))
      #expect(await Self.messages(pair).isEmpty)
    }
    #expect(states[0].requests.map(\.batch) == [0, nil, 1, 1])
    #expect(states[0].batches.map(\.count) == [1, 0])
    #expect(states[1] == states[0])
    let last = InMemoryConnection(adopting: states[1]) { _ in programs[2].makeHandler() }
    try await waitUntil("the calls have run") { programs[2].ran.count == 4 }
    last.endInput()
    let answers = await Self.messages(last)
    #expect(answers.count == 3)
    #expect(programs[1].ran.isEmpty)
    let batches = answers.compactMap(\.arrayValue).map { $0.compactMap { $0["id"]?.stringValue } }
    #expect(batches.contains(["b", "a"]), "the responses that were there first come first")
  }

  @Test("A batch that is received after the hand-over has begun meets the bound of answers in the next process")
  func isCheckedLater() async throws {
    let (first, next) = (HandOverProgram(leavesCalls: true), HandOverProgram(leavesCalls: false))
    let pair = InMemoryConnection { _ in first.makeHandler() }
    pair.connection.beginHandOver()
    pair.send(Self.text("read read read"))
    let handed = try #require(try await pair.handOver())
    #expect(await Self.messages(pair).isEmpty)
    for isChecked in [false, true] {
      var state = try Self.passed(handed)
      #expect(state.requests.map(\.isChecked) == [false, false, false])
      for index in state.requests.indices { state.requests[index].isChecked = isChecked }
      let settings = ConnectionSettings(limits: TransportLimits(maxOutboundBytes: 10))
      let later = InMemoryConnection(settings: settings, adopting: state) { _ in next.makeHandler() }
      later.endInput()
      let answers = await Self.messages(later)
      #expect(answers.map { Self.ids(in: $0) } == [[0, 1, 2]])
      let refused = answers.first?.arrayValue?.filter { $0["error"]?["data"]?["reason"] == "rateLimit" }
      #expect(refused?.count == (isChecked ? 0 : 2))
    }
  }

  @Test("A batch is answered with what has run when its connection is closed because of another call")
  func isAnsweredBeforeTheEnd() async throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000))
    let program = HandOverProgram(leavesCalls: true)
    let pair = InMemoryConnection(allowance: allowance) { _ in program.makeHandler() }
    pair.send(#"{"jsonrpc":"2.0","id":9,"method":"long"}"#)
    pair.send(Self.text("write wait"))
    try await waitUntil("the call waits") { program.gate.count == 1 }
    pair.connection.beginHandOver()
    program.gate.open()
    try await waitUntil("the other call runs alone") { allowance.usage.requests == 1 }
    #expect(try await pair.handOver(within: .milliseconds(1)) == nil)
    let answers = await Self.messages(pair)
    #expect(answers.count == 1)
    let members = answers.first?.arrayValue ?? []
    #expect(members.count { $0["result"] == true } == 1)
    #expect(members.count { $0["error"]?["data"]?["reason"] == "shuttingDown" } == 1)
    #expect(program.refused == ["wait"])
  }

  @Test("The bytes of responses that travelled count for the user until their batch is written")
  func bytesCount() async throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000))
    let response = Array(#"{"jsonrpc":"2.0","id":1,"result":"\#(String(repeating: "x", count: 5000))"}"#.utf8)
    let state = ConnectionHandOver(
      inode: 1, framing: nil, input: [], output: [],
      requests: [.init(text: Array(#"{"jsonrpc":"2.0","id":2,"method":"wait"}"#.utf8), batch: 0)],
      batches: [[response]], lastQuestion: 0, program: [:])
    let program = HandOverProgram(leavesCalls: true)
    let pair = InMemoryConnection(allowance: allowance, adopting: state) { _ in program.makeHandler() }
    try await waitUntil("the bytes are counted") { allowance.usage.bytes >= response.count }
    program.gate.open()
    pair.endInput()
    let answers = await Self.messages(pair)
    #expect(answers.first.map { Self.ids(in: $0) } == [1, 2])
    #expect(allowance.usage == (0, 0))
  }
}
