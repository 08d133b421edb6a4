import JSONRPC
import Testing

@testable import JSONRPCTransport

struct InMemoryTests {
  private let program = TestProgram()

  private func pair(_ limits: TransportLimits = TransportLimits()) -> InMemoryConnection {
    InMemoryConnection(settings: ConnectionSettings(limits: limits), makeHandler: program.makeHandler)
  }

  @Test func callsAndErrors() async throws {
    let pair = pair()
    #expect(try await pair.call(method: "echo", params: ["a": 1]) == ["a": 1])
    await #expect(throws: RPCError.methodNotFound("nothing", nearest: nil)) { try await pair.call(method: "nothing") }
    pair.close()
    await pair.closed()
    #expect(program.seen.closed == 1)
    await #expect(throws: ClientConnectionError.closed) { try await pair.call(method: "echo") }
  }

  @Test func anIDInProgressIsRefused() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":"x"}"#)
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":"x"}"#)
    #expect(await lines.next()?["error"]?["code"] == -32600)
    program.gate.open()
    #expect(await lines.next()?["result"] == "done")
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":"x"}"#)
    #expect(await lines.next()?["result"] == "done")
  }

  @Test func cancelsARunningRequest() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":"x"}"#)
    try await waitUntil("the call runs") { program.gate.count == 1 }
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}"#)
    #expect(await lines.next()?["error"]?["code"] == -32800)
    #expect(program.seen.cancelled == 1)
  }

  @Test func cancelsAQueuedRequestAtOnceWithoutRunningIt() async throws {
    let pair = pair(TransportLimits(maxInFlight: 1))
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":1}"#)
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":2}"#)
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
    let answer = await lines.next()
    #expect(answer?["error"]?["code"] == -32800)
    #expect(answer?["id"] == 2)
    #expect(program.seen.abandoned == 1)
    #expect(program.seen.ran <= 1)
    program.gate.open()
    #expect(await lines.next()?["id"] == 1)
  }

  @Test("A notification runs within the limits, and has no answer")
  func notificationsRun() async throws {
    let pair = pair(TransportLimits(maxInFlight: 1))
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":null}"#)
    pair.send(#"{"jsonrpc":"2.0","method":"slow"}"#)
    pair.send(#"[{"jsonrpc":"2.0","method":"slow"},{"jsonrpc":"2.0","method":"slow","id":2}]"#)
    try await waitUntil("the first one runs") { program.seen.ran == 1 }
    // The id of a request in progress is still known, although the notifications have none.
    pair.send(#"{"jsonrpc":"2.0","method":"echo","id":null}"#)
    #expect(await lines.next()?["error"]?["code"] == -32600)
    program.gate.open()
    #expect(await lines.next()?["result"] == "done")
    #expect(await lines.next()?.arrayValue?.map { $0["id"] } == [2])
    #expect(program.seen.ran == 4)
    #expect(try await pair.call(method: "echo") == [:])
  }

  @Test("A malformed answer ends the question, and is not answered")
  func malformedAnswers() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"ask","id":1}"#)
    let id = JSONWriter.text(of: try #require(await lines.next()?["id"]))
    pair.send(#"{"jsonrpc":"2.0","id":\#(id),"result":1,"more":2}"#)
    let next = await lines.next()
    #expect(next?["id"] == 1, "\(next ?? nil)")
  }

  @Test func cancellationsOfNothingAreIgnored() async throws {
    let pair = pair()
    for params in [#"{"id":5}"#, #"{"id":{}}"#, "{}", "[]"] {
      pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":\#(params)}"#)
    }
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#)
    #expect(try await pair.call(method: "echo") == [:])
    #expect(program.seen.notifications.isEmpty)
  }

  @Test func runsSixtyFourAndQueuesTheRest() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    for number in 0..<100 { pair.send(#"{"jsonrpc":"2.0","method":"slow","id":\#(number)}"#) }
    try await waitUntil("64 run") { program.gate.count == 64 }
    #expect(try await pair.call(method: "echo") == [:])
    #expect(program.seen.accepted.count == 101)
    #expect(program.seen.ran == 64)
    program.gate.open()
    var ids: Set<Int> = []
    for _ in 0..<100 { if let id = await lines.next()?["id"]?.intValue { ids.insert(id) } }
    #expect(ids == Set(0..<100))
    #expect(program.seen.ran == 100)
  }

  @Test func refusesWhatDoesNotFitInTheQueueButReadsResponsesAndCancellations() async throws {
    let pair = pair(TransportLimits(maxInFlight: 1, maxQueuedBytes: 100))
    var lines = pair.lines.makeAsyncIterator()
    for number in 1...4 { pair.send(#"{"jsonrpc":"2.0","method":"slow","id":\#(number)}"#) }
    let refused = await lines.next()
    #expect(refused?["error"]?["data"]?["reason"] == "tooManyInFlight")
    #expect(refused?["id"] == 4)
    #expect(program.seen.accepted.count == 3)
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
    #expect(await lines.next()?["id"] == 1)
    program.gate.open()
    #expect(await lines.next()?["result"] == "done")
    #expect(await lines.next()?["result"] == "done")
  }

  @Test func answersABatchOnceWhenAllAreDone() async throws {
    let pair = pair(TransportLimits(maxInFlight: 2))
    var lines = pair.lines.makeAsyncIterator()
    let members = (1...5).map { #"{"jsonrpc":"2.0","method":"slow","id":\#($0)}"# } + ["{}"]
    pair.send("[" + members.joined(separator: ",") + "]")
    try await waitUntil("two run") { program.gate.count == 2 }
    #expect(try await pair.call(method: "echo") == [:])
    program.gate.open()
    #expect(await lines.next()?.arrayValue?.count == 6)
  }

  @Test func aNotificationSentWhileAcceptingFollowsTheReply() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"subscribe","id":1}"#)
    #expect(await lines.next()?["id"] == 1)
    #expect(await lines.next()?["method"] == "event")
    pair.send(#"{"jsonrpc":"2.0","method":"late","id":2}"#)
    #expect(await lines.next()?["id"] == 2)
    #expect(await lines.next()?["params"] == ["n": 2])
  }

  @Test func theServerAsksAndTheClientAnswers() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"ask","id":1}"#)
    let question = await lines.next()
    #expect(question?["method"] == "question")
    #expect(question?["id"] == "d1")
    // Requests of the two directions may have the same id.
    pair.send(#"{"jsonrpc":"2.0","method":"echo","id":"d1"}"#)
    #expect(await lines.next()?["id"] == "d1")
    pair.send(#"{"jsonrpc":"2.0","id":"d1","result":{"yes":1}}"#)
    #expect(await lines.next()?["result"] == ["yes": 1])
  }

  @Test func aQuestionOverTimeIsTakenBack() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"ask","params":{"ms":5},"id":1}"#)
    #expect(await lines.next()?["id"] == "d1")
    let withdrawal = await lines.next()
    #expect(withdrawal?["method"] == "$/cancelRequest")
    #expect(withdrawal?["params"] == ["id": "d1"])
    #expect(await lines.next()?["result"] == "timedOut")
  }

  @Test func aQuestionOfACancelledCallIsTakenBack() async throws {
    let pair = pair()
    var lines = pair.lines.makeAsyncIterator()
    pair.send(#"{"jsonrpc":"2.0","method":"ask","id":1}"#)
    #expect(await lines.next()?["id"] == "d1")
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
    #expect(await lines.next()?["method"] == "$/cancelRequest")
    #expect(await lines.next()?["result"] == "cancelled")
  }

  @Test func theEndCancelsAbandonsAndClosesOnce() async throws {
    let pair = pair(TransportLimits(maxInFlight: 1))
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":1}"#)
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":2}"#)
    try await waitUntil("one runs") { program.gate.count == 1 }
    pair.close()
    await pair.closed()
    #expect(program.seen.cancelled == 1)
    #expect(program.seen.abandoned == 1)
    #expect(program.seen.closed == 1)
    await #expect(throws: PeerRequestError.closed) {
      try await pair.connection.request(method: "question", params: [:], timeout: nil)
    }
  }

  @Test func aCancelledCallerTakesItsCallBack() async throws {
    let pair = pair()
    let caller = Task { try await pair.call(method: "slow") }
    try await waitUntil("it runs") { program.gate.count == 1 }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    try await waitUntil("the server has cancelled it") { program.seen.cancelled == 1 }
  }
}
