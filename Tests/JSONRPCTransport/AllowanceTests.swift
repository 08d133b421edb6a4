import JSONRPC
import Testing

@testable import JSONRPCTransport

/// The allowance that the connections of one user share.
struct AllowanceTests {
  private let program = TestProgram()

  private func pair(
    _ allowance: Allowance, _ limits: TransportLimits = TransportLimits()
  ) -> (InMemoryConnection, AsyncStream<JSON>.Iterator) {
    let pair = InMemoryConnection(
      settings: ConnectionSettings(limits: limits), allowance: allowance, makeHandler: program.makeHandler)
    return (pair, pair.lines.makeAsyncIterator())
  }

  private func reason(_ answer: JSON?) -> String? { answer?["error"]?["data"]?["reason"]?.stringValue }

  /// An allowance of one call per second, which admits two at once.
  private let twoCalls = Allowance(limits: AllowanceLimits(callsPerSecond: 1))

  /// Returns a batch of calls on one line, so that all are checked at the same time.
  private func batch(_ count: Int) -> String {
    let members = (1...count).map { #"{"jsonrpc":"2.0","method":"echo","id":\#($0)}"# }
    return "[\(members.joined(separator: ","))]"
  }

  @Test func aCallOverTheLimitIsAnsweredAndNotRun() async throws {
    var (pair, lines) = pair(twoCalls)
    var (other, otherLines) = self.pair(twoCalls)
    pair.send(batch(60))
    let answers = try #require(await lines.next()?.arrayValue)
    let refused = answers.filter { reason($0) == "rateLimit" }
    #expect(refused.count == 58)
    for answer in refused {
      #expect(answer["id"] != .null)
      #expect(answer["error"]?["code"] == -32050)
      #expect(answer["error"]?["data"]?["retryable"] == true)
      let wait = try #require(answer["error"]?["data"]?["retryAfter"]?.doubleValue)
      #expect(wait > 0 && wait <= 1)
    }
    #expect(program.seen.accepted.count == 2)
    // Another connection of the same user does not get more.
    other.send(batch(60))
    #expect(try #require(await otherLines.next()?.arrayValue).contains { reason($0) == "rateLimit" })
    withExtendedLifetime((pair, other)) {}
  }

  @Test func eachMemberOfABatchCounts() async throws {
    var (pair, lines) = pair(twoCalls)
    let members = (1...4).map { #"{"jsonrpc":"2.0","method":"echo","id":\#($0)}"# }
    pair.send("[\(members.joined(separator: ","))]")
    let answers = try #require(await lines.next()?.arrayValue)
    #expect(answers.count == 4)
    #expect(answers.count { reason($0) == "rateLimit" } == 2)
    withExtendedLifetime(pair) {}
  }

  @Test func notificationsAndWhatIsNoMessageCount() async throws {
    var (pair, lines) = pair(twoCalls)
    // The second notification is over the limit. It is dropped, since a notification has no response.
    let members = [
      #"{"jsonrpc":"2.0","method":"hello"}"#, #"{"jsonrpc":"2.0","methode":"hello","id":1}"#,
      #"{"jsonrpc":"2.0","method":"bye"}"#, #"{"jsonrpc":"2.0","method":"echo","id":2}"#,
    ]
    pair.send("[\(members.joined(separator: ","))]")
    let answers = try #require(await lines.next()?.arrayValue)
    #expect(answers.map(reason) == ["invalidRequest", "rateLimit"])
    #expect(program.seen.notifications.map(\.method) == ["hello"])
    withExtendedLifetime(pair) {}
  }

  @Test func cancellationsAndAnswersNeverCount() async throws {
    var (pair, lines) = pair(twoCalls)
    pair.send(#"{"jsonrpc":"2.0","method":"ask","id":1}"#)
    pair.send(#"{"jsonrpc":"2.0","method":"slow","id":2}"#)
    for id in 3...50 { pair.send(#"{"jsonrpc":"2.0","method":"slow","id":\#(id)}"#) }
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
    var answers: [JSON?: JSON] = [:]
    while answers[1] == nil || answers[2] == nil || answers[50] == nil, let line = await lines.next() {
      answers[line["id"]] = line
      if line["method"] != nil {
        pair.send(JSONWriter.text(of: ["jsonrpc": "2.0", "id": line["id"] ?? nil, "result": "yes"]))
      }
    }
    #expect(answers[1]?["result"] == "yes")
    #expect(answers[2]?["error"]?["code"] == -32800)
    #expect(reason(answers[50]) == "rateLimit")
    withExtendedLifetime(pair) {}
  }

  @Test func requestsInProgressAreCountedOverConnections() async throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000, maxInFlight: 3))
    var (pair, lines) = pair(allowance, TransportLimits(maxInFlight: 1))
    var (other, otherLines) = self.pair(allowance)
    for id in 1...2 { pair.send(#"{"jsonrpc":"2.0","method":"slow","id":\#(id)}"#) }
    try await waitUntil("two are in progress") { allowance.usage.requests == 2 }
    for id in 3...4 { other.send(#"{"jsonrpc":"2.0","method":"slow","id":\#(id)}"#) }
    let refusal = await otherLines.next()
    #expect(refusal?["id"] == 4)
    #expect(reason(refusal) == "tooManyInFlight")
    // A queued request that is cancelled no longer counts.
    pair.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
    #expect(await lines.next()?["id"] == 2)
    #expect(allowance.usage.requests == 2)
    program.gate.open()
    #expect(await lines.next()?["id"] == 1)
    #expect(await otherLines.next()?["id"] == 3)
    pair.close()
    other.close()
    await pair.closed()
    await other.closed()
    #expect(allowance.usage == (0, 0))
  }

  @Test func whatWaitsWhenAConnectionEndsIsGivenBack() async throws {
    let allowance = Allowance(limits: AllowanceLimits(callsPerSecond: 1000))
    let (pair, _) = pair(allowance, TransportLimits(maxInFlight: 1))
    for id in 1...5 { pair.send(#"{"jsonrpc":"2.0","method":"slow","id":\#(id)}"#) }
    try await waitUntil("five are in progress") { allowance.usage.requests == 5 }
    pair.close()
    await pair.closed()
    #expect(allowance.usage == (0, 0))
  }
}
