import Foundation
import JSONRPC
import Testing

/// The rules of the transport, with the real binary: the response to bad input, and its effect on other clients.
@Suite struct TransportTests {
  @Test("A call that is sent as a notification is run, and has no answer")
  func notificationsRun() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    line.send(
      #"{"jsonrpc":"2.0","method":"storage.put","params":{"instance":"desk","key":"draft","value":"Hello"}}"#)
    line.send("\n" + #"{"jsonrpc":"2.0","method":"no.such"}"# + "\n")
    line.send(#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}"# + "\n")
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "Hello")
  }

  @Test func parseErrorsAreSurvived() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    line.send("{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\": \"bar\", \"baz]\n")
    let error = try line.json()
    #expect(error?["error"]?["code"] == -32700)
    #expect(error?["id"] == .null)
    #expect(try line.call("daemon.info")["name"] == "sdkd")
  }

  @Test func idsAreEchoedExactly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for id in ["1.0", "1e2", "\"ä\\\"\"", "-0", "12345678901234567890123", "null", "\"\""] {
      line.send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"daemon.info\"}\n")
      let text = try line.line() ?? ""
      let spelt = id == "\"ä\\\"\"" ? "\"ä\\\"\"" : id
      #expect(text.contains("\"id\":\(spelt),"), "\(text.prefix(60))")
    }
  }

  @Test(arguments: [
    "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"daemon.info\"}", "{\"id\":1,\"method\":\"daemon.info\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"daemon.info\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"methode\":\"daemon.info\"}", "1", "\"x\"", "[]",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\",\"params\":3}",
  ])
  func whatIsNoRequestIsSaidSo(text: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    line.send(text + "\n")
    #expect(try line.json()?["error"]?["code"] == -32600)
    #expect(try line.call("daemon.info")["name"] == "sdkd")
  }

  @Test func paramsAreCheckedByName() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let array = try line.failure("token.get", ["front-desk"])
    #expect(array.code == -32602)
    let unknown = try line.failure("token.get", ["instance": "x", "minTTl": 3])
    #expect(unknown.data["member"] == "minTTl")
    #expect(unknown.message.contains("minTTL"))
    let missing = try line.failure("token.get")
    #expect(missing.data["member"] == "instance")
    let wrong = try line.failure("token.get", ["instance": "x", "http": "yes"])
    #expect(wrong.data["member"] == "http")
  }

  @Test("Valid JSON that is too deep, repeats a name or has a long run of marks is called refused, not invalid")
  func refusedJSONIsNotCalledInvalid() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let marks = String(repeating: "\u{301}", count: 129)
    for (text, word) in [
      ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\",\"id\":2}", "occurs twice"),
      (String(repeating: "[", count: 33) + String(repeating: "]", count: 33), "nested deeper than 32"),
      ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\(marks)\"}", "combining marks"),
    ] {
      line.send(text + "\n")
      let error = try line.json()?["error"]
      #expect(error?["code"] == -32600)
      #expect(error?["data"]?["reason"] == "invalidRequest")
      #expect(error?["message"]?.stringValue?.contains(word) == true)
      #expect(error?["message"]?.stringValue?.contains("not valid JSON") == false)
    }
  }

  @Test("An empty array and null as params mean no params", arguments: ["[]", "null", "{}"])
  func noParams(text: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    line.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\",\"params\":\(text)}\n")
    #expect(try line.json()?["result"]?["name"] == "sdkd")
    line.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":\(text)}\n")
    let error = try line.json()?["error"]
    #expect(error?["code"] == -32602)
    #expect(error?["data"]?["member"] == "instance")
  }

  @Test("The listen queue has 4096 places by the kernel's figure")
  func theListenQueueIsLong() throws {
    let queue = try Desk.open().listenQueue
    #expect(queue.length == queue.limit.map { min(4096, $0) })
  }

  @Test func deepAndInvalidTextIsRefusedAndTheOthersLiveOn() throws {
    let desk = try Desk.open()
    let other = try desk.connect()
    let line = try desk.connect()
    line.send(String(repeating: "[", count: 60_000) + "\n")
    #expect(try line.json()?["error"]?["code"] == -32600)
    line.send([0x22, 0xFF, 0xFE, 0x22, 0x0A])
    #expect(try line.json()?["error"]?["code"] == -32700)
    #expect(try other.call("daemon.info")["name"] == "sdkd")
    #expect(try line.call("daemon.info")["name"] == "sdkd")
  }

  @Test func aFrameOverTheLimitEndsItsConnectionOnly() throws {
    let desk = try Desk.open()
    let other = try desk.connect()
    let line = try desk.connect()
    line.send(String(repeating: "1", count: 1_100_000))
    let error = try line.json()
    #expect(error?["error"]?["data"]?["reason"] == "frameTooLarge")
    #expect(error?["id"] == .null)
    #expect(try line.line() == nil)
    #expect(try other.call("daemon.info")["name"] == "sdkd")
  }

  @Test func aLargeFrameIsForMethodsThatDeclareIt() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let blank = String(repeating: " ", count: 70_000)
    line.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\",\(blank)\"params\":{}}\n")
    #expect(try line.json()?["error"]?["data"]?["reason"] == "frameTooLarge")
    line.send(
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"storage.put\",\(blank)\"params\":{\"instance\":\"desk\",\"key\":\"k\",\"value\":1}}\n"
    )
    #expect(try line.json()?["result"] == [:])
  }

  @Test func batchesAreAnsweredTogether() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    line.send(
      "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"},1,{\"jsonrpc\":\"2.0\",\"method\":\"daemon.info\"},"
        + "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"nope\"}]\n")
    let answers = try line.json()?.arrayValue ?? []
    #expect(answers.count == 3)
    #expect(Set(answers.compactMap { $0["error"]?["code"]?.intValue }) == [-32600, -32601])
    line.send("[{\"jsonrpc\":\"2.0\",\"method\":\"daemon.info\"}]\n")
    #expect(try line.call("daemon.info")["name"] == "sdkd")
  }

  @Test func afterAHalfCloseEverythingIsStillAnswered() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    line.send(
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.health\"}\r\n\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.info\"}"
    )
    line.halfClose()
    let ids = try [line.json(), line.json()].compactMap { $0?["id"]?.intValue }
    #expect(Set(ids) == [1, 2])
    #expect(try line.line() == nil)
  }

  @Test func aHalfSentFrameBlocksNobodyAndIsClosed() throws {
    let desk = try Desk.open(configuration: "[limits]\nframe_timeout = \"1s\"\n")
    let line = try desk.connect()
    line.send("{\"jsonrpc\":")
    let other = try desk.connect()
    #expect(try other.call("daemon.info")["name"] == "sdkd")
    #expect(try line.line(within: 30) == nil)
  }

  @Test func aWaitingCallCanBeCancelled() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("sleep 5"))
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 30))])
    let id = line.begin("token.get", ["instance": "desk", "minTTL": 60])
    line.send("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\(id)}}\n")
    #expect(try line.answer(id)["error"]?["code"] == -32800)
    #expect(try line.call("token.get", ["instance": "desk"])["fromCache"] == true)
  }

  @Test func aHundredClientsAreServed() throws {
    let desk = try Desk.open()
    let lines = try (0..<100).map { _ in try desk.connect() }
    let ids = lines.map { $0.begin("daemon.info") }
    for (line, id) in zip(lines, ids) { #expect(try line.answer(id)["result"]?["name"] == "sdkd") }
  }
}
