import JSONRPC
import Randomness
import Testing

struct RPCMessageTests {
  private func frame(_ text: String) throws(RPCError) -> RPCFrame { try RPCFrame(Array(text.utf8)[...]) }

  private func single(_ text: String) throws -> RPCMessage {
    guard case .single(let message) = try frame(text) else {
      throw RPCError.invalidRequest("not a single message")
    }
    return message
  }

  @Test(arguments: [
    (#"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#, true),
    (#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#, true),
    (#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, false),
    (#"{"jsonrpc": "2.0", "method": "foobar"}"#, false),
  ])
  func `The specification's requests and notifications`(text: String, isRequest: Bool) throws {
    switch try single(text) {
    case .request(let request):
      #expect(isRequest)
      #expect(request.method == "subtract")
      #expect(request.params != nil)
    case .notification: #expect(!isRequest)
    default: Issue.record("neither request nor notification")
    }
  }

  @Test func `The specification's invalid JSON is a parse error`() {
    for text in [
      #"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
      #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#,
    ] {
      let error = #expect(throws: RPCError.self) { try frame(text) }
      #expect(error?.code == -32700)
      #expect(error?.reason == "parseError")
    }
  }

  @Test func `The specification's batches`() throws {
    let empty = #expect(throws: RPCError.self) { try frame("[]") }
    #expect(empty?.code == -32600)

    guard case .batch(let invalid) = try frame("[1,2,3]") else {
      Issue.record("no batch")
      return
    }
    #expect(invalid.count == 3)
    for message in invalid { #expect(Self.error(of: message)?.code == -32600) }

    guard
      case .batch(let mixed) = try frame(
        #"[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method":"notify_hello","#
          + #""params":[7]},{"foo":"boo"},{"jsonrpc":"2.0","method":"get_data","id":"9"}]"#)
    else {
      Issue.record("no batch")
      return
    }
    guard case .request(let first) = mixed[0], case .notification = mixed[1], case .invalid(let id, _) = mixed[2],
      case .request(let last) = mixed[3]
    else {
      Issue.record("other members")
      return
    }
    #expect(first.id == .string("1"))
    #expect(id == .null)
    #expect(last.params == nil)
  }

  @Test(
    "No params, null, an empty array and an absent member are the same",
    arguments: [",\"params\":null", ",\"params\":[]", ""])
  func noParams(member: String) throws {
    guard case .request(let request) = try single(#"{"jsonrpc":"2.0","id":1,"method":"m"\#(member)}"#) else {
      Issue.record("no request")
      return
    }
    #expect(request.params == nil)
  }

  @Test(
    "JSON beyond the parser's limits is an invalid request, not a parse error",
    arguments: [
      String(repeating: "[", count: 33) + String(repeating: "]", count: 33), #"{"a":1,"a":2}"#,
      "\"a\(String(repeating: "\u{301}", count: 129))\"",
    ])
  func beyondLimits(text: String) {
    let error = #expect(throws: RPCError.self) { try frame(text) }
    #expect(error?.code == -32600)
    #expect(error?.message.hasPrefix("The message is refused: ") == true)
  }

  @Test("A method has at most 64 bytes and an id 256")
  func longNames() throws {
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    for method in [text(64), "\u{E9}" + text(62)] {
      guard case .request = try single(#"{"jsonrpc":"2.0","id":"\#(text(256))","method":"\#(method)"}"#) else {
        Issue.record("no request")
        return
      }
    }
    for method in [text(65), "\u{E9}" + text(63)] {
      guard case .invalid(let id, let error) = try single(#"{"jsonrpc":"2.0","id":7,"method":"\#(method)"}"#) else {
        Issue.record("taken")
        return
      }
      #expect(id == .number(JSONNumber(7)))
      #expect(error.data["member"] == "method")
    }
    for id in ["\"\(text(257))\"", String(repeating: "1", count: 257)] {
      guard case .invalid(.null, let error) = try single(#"{"jsonrpc":"2.0","id":\#(id),"method":"m"}"#) else {
        Issue.record("taken")
        return
      }
      #expect(error.data["member"] == "id")
    }
  }

  @Test("Ids are equal only if they have the same bytes")
  func equalIDs() {
    #expect(RPCID.string("\u{E9}") != .string("e\u{301}"))
    #expect(Set([RPCID.string("\u{E9}"), .string("e\u{301}"), .string("\u{E9}")]).count == 2)
    #expect(RPCID.string("1") != .number(JSONNumber(1)))
    #expect(RPCID.null == .null)
  }

  @Test func `A batch holds at most sixty-four messages`() throws {
    func batch(_ count: Int) -> String { "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]" }
    guard case .batch(let members) = try frame(batch(64)) else {
      Issue.record("no batch")
      return
    }
    #expect(members.count == 64)
    #expect(throws: RPCError.self) { try frame(batch(65)) }
  }

  @Test(arguments: [
    "1", "1.0", "1e3", "-0", "0", "12345678901234567890123456789", #""""#, #""a\"b\\c\n""#, #""\u0000""#, "null",
    #""é😀""#,
  ])
  func `Ids are echoed exactly`(id: String) throws {
    guard case .request(let request) = try single(#"{"jsonrpc":"2.0","method":"m","id":\#(id)}"#) else {
      Issue.record("no request")
      return
    }
    let answer = String(decoding: RPCText.response(id: request.id, result: Array("{}".utf8)), as: UTF8.self)
    #expect(answer == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#)
    let failure = RPCText.response(id: request.id, error: .cancelled)
    #expect(try JSONParser.parse(failure)["error"]?["code"] == -32800)
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","method":1,"id":1}"#, "method"), (#"{"jsonrpc":"1.0","method":"m","id":1}"#, "jsonrpc"),
    (#"{"method":"m","id":1}"#, "jsonrpc"), (#"{"jsonrpc":2.0,"method":"m","id":1}"#, "jsonrpc"),
    (#"{"jsonrpc":"2.0","method":"m","params":"bar","id":1}"#, "params"),
    (#"{"jsonrpc":"2.0","method":"m","parms":{},"id":1}"#, "parms"),
    (#"{"jsonrpc":"2.0","method":"m","result":1,"id":1}"#, "method"), (#"{"jsonrpc":"2.0","id":1}"#, "method"),
  ])
  func `An invalid member is named and the id kept`(text: String, member: String) throws {
    guard case .invalid(let id, let error) = try single(text) else {
      Issue.record("not invalid")
      return
    }
    #expect(id == .number(JSONNumber(1)))
    #expect(error.code == -32600)
    #expect(error.data["member"]?.stringValue == member)
  }

  @Test(
    "Members stand in any order, and of several unknown ones the first is named",
    arguments: [
      #"{"params":{"a":1},"method":"m","id":1,"jsonrpc":"2.0"}"#,
      #"{"id":1,"params":{"a":1},"jsonrpc":"2.0","method":"m"}"#,
    ])
  func orderOfMembers(text: String) throws {
    guard case .request(let request) = try single(text) else {
      Issue.record("no request")
      return
    }
    #expect(request.id == .number(JSONNumber(1)))
    #expect(request.method == "m")
    #expect(request.params == ["a": 1])
    for names in [["first", "second"], ["Method", "x"], ["", "x"], ["result\u{301}", "x"]] {
      let unknown = names.map { #""\#($0)":1"# }.joined(separator: ",")
      guard case .invalid(_, let error) = try single("{\(unknown),\(text.dropFirst())") else {
        Issue.record("taken")
        return
      }
      #expect(error.data["member"]?.stringValue == names[0])
    }
  }

  @Test(arguments: ["{}", "[]", "true"])
  func `An id of another type is refused`(id: String) throws {
    guard case .invalid(.null, let error) = try single(#"{"jsonrpc":"2.0","method":"m","id":\#(id)}"#) else {
      Issue.record("not invalid")
      return
    }
    #expect(error.data["member"] == "id")
  }

  @Test func `Responses of the other side`() throws {
    guard case .response(let id, .success(let result)) = try single(#"{"jsonrpc":"2.0","id":7,"result":null}"#) else {
      Issue.record("no response")
      return
    }
    #expect(id == .number(JSONNumber(7)))
    #expect(result == .null)
    guard
      case .response(_, .failure(let error)) = try single(
        #"{"jsonrpc":"2.0","id":7,"error":{"code":-32040,"message":"no","data":{"reason":"providerDenied"}}}"#)
    else {
      Issue.record("no failure")
      return
    }
    #expect(error.reason == "providerDenied")
    guard case .response(_, .failure(let unreadable)) = try single(#"{"jsonrpc":"2.0","id":7,"error":3}"#) else {
      Issue.record("no failure")
      return
    }
    #expect(unreadable.code == -32603)
    guard case .invalidResponse(.number, _) = try single(#"{"jsonrpc":"2.0","id":7,"result":1,"error":{}}"#),
      case .invalidResponse(.string("d1"), _) = try single(#"{"jsonrpc":"2.0","id":"d1","result":1,"more":2}"#),
      case .invalid(.null, _) = try single(#"{"jsonrpc":"2.0","result":1,"more":2}"#)
    else {
      Issue.record("both were taken")
      return
    }
  }

  @Test("A message reads the same from its text and from a parsed value")
  func textAndValueAgree() throws {
    let names = [
      #""jsonrpc""#, #""id""#, #""method""#, #""params""#, #""result""#, #""error""#, #""m\u0065thod""#, #""ids""#,
    ]
    let values = [
      #""2.0""#, "1", #""token.get""#, #"{"instance":"desk"}"#, "null", "[]", "[1]", #""\u0032.0""#, "{", "\u{301}",
    ]
    var random = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      let members = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        "\(names.randomElement(using: &random) ?? ""): \(values.randomElement(using: &random) ?? "")"
      }
      let text = "{\(members.joined(separator: " ,"))}"
      let parsed = Result { try JSONParser.parse(text) }
      switch (parsed, Result { try single(text) }) {
      case (.success(let json), .success(let message)): #expect("\(message)" == "\(RPCMessage(json))", "\(text)")
      case (.failure(let syntax as JSONSyntaxError), .failure(let error as RPCError)):
        #expect(error == .unparsed(syntax), "\(text)")
      default: Issue.record("one of both reads \(text)")
      }
    }
  }

  @Test func `All that is written is one line`() throws {
    let nasty: JSON = ["a\nb": "c\r\n\u{0}"]
    let lines = [
      RPCText.notification(method: "events.event", params: nasty),
      RPCText.request(id: .string("\n"), method: "x", params: nasty),
      RPCText.response(id: .string("\n"), error: .invalidParams("a\nb", member: "x\n", nearest: "y")),
      RPCText.batch([Array("1".utf8), Array("2".utf8)]),
    ]
    for line in lines {
      #expect(!line.contains(0x0A) && !line.contains(0x0D))
      _ = try JSONParser.parse(line)
    }
    #expect(String(decoding: lines[3], as: UTF8.self) == "[1,2]")
  }

  @Test func `An error's own data comes with reason and retryable`() throws {
    let error = RPCError.invalidParams("x", member: "a.b", nearest: "c")
    #expect(
      error.json["data"] == ["reason": "invalidParams", "retryable": false, "member": "a.b", "hints": ["nearest: c"]])
    #expect(RPCError(json: error.json) == error)
    #expect(RPCError.methodNotFound(String(repeating: "m", count: 9999), nearest: nil).message.count < 200)
    #expect(RPCError.frameTooLarge(limit: 5).code == -32600)
    #expect(RPCError.internalError(reference: "r").data["reference"] == "r")
  }

  private static func error(of message: RPCMessage) -> RPCError? {
    if case .invalid(_, let error) = message { error } else { nil }
  }
}
