import JSONRPC
import JSONRPCTransport
import Testing

/// The examples of the JSON-RPC 2.0 specification, section 7, and the protocol's additions to them.
struct SpecificationTests {
  /// Returns every line that the server sends in response to `lines`, once all calls have ended.
  private func answers(_ lines: [String], program: TestProgram = TestProgram()) async throws -> [JSON] {
    let pair = InMemoryConnection(makeHandler: program.makeHandler)
    for line in lines { pair.send(line) }
    pair.endInput()
    var answers: [JSON] = []
    for await answer in pair.lines { answers.append(answer) }
    await pair.closed()
    return answers
  }

  private func code(_ json: JSON?) -> Int? { json?["error"]?["code"]?.intValue }

  @Test(arguments: [
    (
      #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
      #"{"jsonrpc":"2.0","result":19,"id":1}"#
    ),
    (
      #"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#,
      #"{"jsonrpc":"2.0","result":-19,"id":2}"#
    ),
    (
      #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
      #"{"jsonrpc":"2.0","result":19,"id":3}"#
    ),
    (
      #"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#,
      #"{"jsonrpc":"2.0","result":19,"id":4}"#
    ),
  ])
  func calls(request: String, response: String) async throws {
    #expect(try await answers([request]) == [JSONParser.parse(response)])
  }

  @Test func notificationsHaveNoAnswer() async throws {
    let program = TestProgram()
    let lines = [
      #"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, #"{"jsonrpc": "2.0", "method": "foobar"}"#,
    ]
    #expect(try await answers(lines, program: program).isEmpty)
    #expect(program.seen.notifications.map(\.method) == ["update", "foobar"])
  }

  @Test func unknownMethod() async throws {
    let answer = try await answers([#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#]).first
    #expect(code(answer) == -32601)
    #expect(answer?["id"] == "1")
  }

  @Test(arguments: [
    (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, -32700),
    (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, -32600),
    (#"[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method" ]"#, -32700),
    ("[]", -32600), ("1", -32600), ("null", -32600), (#""x""#, -32600),
    (#"{"method": "echo", "id": null}"#, -32600), (#"{"jsonrpc": "1.0", "method": "echo", "id": null}"#, -32600),
  ])
  func mistakesAreAnsweredWithoutID(line: String, expected: Int) async throws {
    let found = try await answers([line, #"{"jsonrpc":"2.0","method":"sum","params":[],"id":9}"#])
    #expect(found.count == 2)
    #expect(code(found.first) == expected)
    #expect(found.first?["id"]?.isNull == true)
    // The connection stays open.
    #expect(found.last?["result"] == 0)
  }

  @Test func invalidMembersOfABatchAreAnsweredOneByOne() async throws {
    #expect(try await answers(["[1]"]).first?.arrayValue?.map(code) == [-32600])
    #expect(try await answers(["[1,2,3]"]).first?.arrayValue?.map(code) == [-32600, -32600, -32600])
  }

  @Test func batch() async throws {
    let line = """
      [{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},\
      {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},\
      {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},\
      {"foo": "boo"},\
      {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},\
      {"jsonrpc": "2.0", "method": "get_data", "id": "9"}]
      """
    let answer = try await answers([line])
    #expect(answer.count == 1)
    let members = answer.first?.arrayValue ?? []
    #expect(members.count == 5)
    func member(_ id: JSON) -> JSON? { members.first { $0["id"] == id } }
    #expect(member("1")?["result"] == 7)
    #expect(member("2")?["result"] == 19)
    #expect(code(member(nil)) == -32600)
    #expect(code(member("5")) == -32601)
    #expect(member("9")?["result"] == ["hello", 5])
  }

  @Test func batchOfNotificationsHasNoAnswer() async throws {
    let line = """
      [{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},\
      {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]
      """
    #expect(try await answers([line]).isEmpty)
  }

  @Test func batchesHaveAtMost64Members() async throws {
    func batch(_ count: Int) -> String {
      "[" + (0..<count).map { #"{"jsonrpc":"2.0","method":"sum","id":\#($0)}"# }.joined(separator: ",") + "]"
    }
    #expect(try await answers([batch(64)]).first?.arrayValue?.count == 64)
    #expect(code(try await answers([batch(65)]).first) == -32600)
  }

  @Test(arguments: [#""x""#, "1", "1.0", "1e0", "-0", "12345678901234567890123", "null", #""""#, #""\u00e9\n""#])
  func idsComeBackAsTheyWere(id: String) async throws {
    let answer = try await answers([#"{"jsonrpc":"2.0","method":"sum","id":\#(id)}"#]).first
    #expect(try answer?["id"] == JSONParser.parse(id))
  }

  @Test(arguments: ["true", "[]", "{}"])
  func otherIDsAreNone(id: String) async throws {
    let answer = try await answers([#"{"jsonrpc":"2.0","method":"sum","id":\#(id)}"#]).first
    #expect(code(answer) == -32600)
    #expect(answer?["id"]?.isNull == true)
  }

  @Test func responsesThatNobodyWaitsForAreIgnored() async throws {
    let lines = [
      #"{"jsonrpc":"2.0","id":"d7","result":1}"#, #"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
      #"[{"jsonrpc":"2.0","id":3,"result":1}]"#,
    ]
    #expect(try await answers(lines).isEmpty)
  }
}
