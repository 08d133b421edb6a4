import JSONRPC
import Testing

@testable import sdkctl

/// The frames of native messaging, and what a page may do.
struct BrowserTests {
  private let rights = PageRights(
    origin: "https://kiosk.example", instances: ["desk", "till"], methods: ["token.get", "delegate.attach"],
    events: ["userLoggedIn", "userLoggedOut"])

  private func frame(_ text: String) -> [UInt8] { NativeFrames.frame(Array(text.utf8)) }

  private func frames(_ bytes: [UInt8]) throws -> [String] {
    var reader = NativeFrames(limit: 64 << 20)
    reader.append(bytes)
    var found: [String] = []
    while let next = try reader.next() { found.append(String(decoding: next, as: UTF8.self)) }
    return found
  }

  // MARK: Frames

  @Test("Frames are read wherever the pieces end")
  func pieces() throws {
    let bytes = frame("{}") + frame("") + frame(#"{"a":"ä"}"#)
    for cut in 0...bytes.count {
      var reader = NativeFrames(limit: 100)
      var found: [String] = []
      for piece in [bytes[..<cut], bytes[cut...]] {
        reader.append(piece)
        while let next = try reader.next() { found.append(String(decoding: next, as: UTF8.self)) }
      }
      #expect(found == ["{}", "", #"{"a":"ä"}"#])
    }
  }

  @Test("A length over the limit is refused before its bytes come", arguments: [101, 1 << 20, Int(UInt32.max)])
  func tooLarge(_ length: Int) {
    var reader = NativeFrames(limit: 100)
    reader.append(withUnsafeBytes(of: UInt32(length)) { Array($0) })
    #expect(throws: NativeFrames.TooLarge(length: length)) { try reader.next() }
  }

  // MARK: Rights

  private func call(_ method: String, _ params: JSON) -> JSON {
    ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
  }

  private func refusal(_ message: JSON) -> RPCError? {
    guard case .refuse(let response?) = rights.decision(on: message) else { return nil }
    return response["error"].flatMap(RPCError.init(json:))
  }

  @Test("A listed call about a listed instance is sent as it is")
  func listed() {
    let message = call("token.get", ["instance": "desk", "minTTL": 30])
    #expect(rights.decision(on: message) == .send(message))
  }

  @Test(
    "What is not listed is refused, whether it exists or not",
    arguments: [
      ("token.get", ["instance": "office"]), ("storage.get", ["instance": "desk", "key": "k"]),
      ("delegate.attach", ["instances": ["desk", "office"]]), ("events.subscribe", ["instances": ["office"]]),
      ("events.subscribe", ["types": ["tokenRefreshed"]]), ("events.list", [:]), ("daemon.info", [:]),
      ("rpc.discover", [:]), ("instance.list", [:]), ("nonsense", ["instance": "desk"]),
      ("events.subscribe", ["instances": [["desk"]]]),
    ] as [(String, JSON)])
  func unlisted(_ method: String, _ params: JSON) {
    #expect(refusal(call(method, params))?.reason == "accessDenied")
  }

  @Test(
    "A method for the whole machine is for no page, though it be listed",
    arguments: ["daemon.info", "daemon.reload", "rpc.discover", "events.list", "instance.list", "instance.delete"])
  func wholeMachine(_ method: String) {
    var rights = self.rights
    rights.methods.append(method)
    guard case .refuse(let response?) = rights.decision(on: call(method, ["instance": "desk"])) else {
      Issue.record("\(method) is sent")
      return
    }
    #expect(response["error"]?["data"]?["reason"] == "accessDenied")
  }

  @Test("A call without an instance, or with odd params, says what is missing")
  func oddParams() {
    for params: JSON in [[:], ["instance": .null], ["instance": ["desk"]], ["desk"], "desk"] {
      #expect(refusal(call("token.get", params))?.reason == "invalidParams")
    }
    #expect(refusal(["id": 1, "method": "token.get"])?.reason == "invalidParams")
  }

  @Test(
    "A subscription is narrowed to what is listed",
    arguments: [
      ([:], ["desk", "till"], ["userLoggedIn", "userLoggedOut"]),
      (["instances": [], "types": []], ["desk", "till"], ["userLoggedIn", "userLoggedOut"]),
      (["instances": .null], ["desk", "till"], ["userLoggedIn", "userLoggedOut"]),
      (["instances": ["till"], "types": ["userLoggedIn"]], ["till"], ["userLoggedIn"]),
    ] as [(JSON, JSON, JSON)])
  func subscriptions(_ params: JSON, _ instances: JSON, _ types: JSON) {
    guard case .send(let sent) = rights.decision(on: call("events.subscribe", params)) else {
      Issue.record("it is refused")
      return
    }
    #expect(sent["params"]?["instances"] == instances)
    #expect(sent["params"]?["types"] == types)
  }

  @Test("A page whose events are not listed follows none")
  func withoutEvents() {
    let rights = PageRights(origin: "https://a.b", instances: ["desk"], methods: ["token.get"], events: [])
    for method in ["events.subscribe", "events.resume", "events.unsubscribe", "delegate.detach"] {
      guard case .refuse = rights.decision(on: call(method, [:])) else {
        Issue.record("\(method) is sent")
        continue
      }
    }
  }

  @Test("Messages are written anew, so that the daemon reads what was checked")
  func rewritten() {
    let message: JSON = ["id": "a", "method": "token.get", "params": ["instance": "desk"], "batch": [], "jsonrpc": "9"]
    #expect(
      rights.decision(on: message)
        == .send(["jsonrpc": "2.0", "id": "a", "method": "token.get", "params": ["instance": "desk"]]))
    let answer: JSON = ["id": 7, "result": ["token": "t"], "more": 1]
    #expect(rights.decision(on: answer) == .send(["jsonrpc": "2.0", "id": 7, "result": ["token": "t"]]))
  }

  @Test(
    "What is no message is refused",
    arguments: [
      [], "x", 1, [["id": 1, "method": "token.get"]], [:], ["id": 1], ["result": 1],
      ["id": 1, "result": 1, "error": 2],
      ["id": 1, "method": 7], ["id": ["x"], "method": "token.get", "params": ["instance": "desk"]],
    ] as [JSON])
  func noMessage(_ message: JSON) {
    #expect(refusal(message)?.reason == "invalidRequest")
  }

  @Test("A refused notification gets no response")
  func notification() {
    #expect(rights.decision(on: ["method": "daemon.reload"]) == .refuse(nil))
  }

  // MARK: Translation

  private func translate(_ bytes: [UInt8]) -> (socket: String, output: [UInt8], isOpen: Bool) {
    var translator = PageTranslator(rights: rights, frames: NativeFrames(limit: PageTranslator.largestMessage))
    var (socket, output): ([UInt8], [UInt8]) = ([], [])
    let isOpen = translator.readInput(bytes[...], toSocket: &socket, toOutput: &output)
    return (String(decoding: socket, as: UTF8.self), output, isOpen)
  }

  @Test("A frame becomes a line, and text with two members of one name none")
  func lines() throws {
    let good = #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"desk"}}"#
    #expect(translate(frame(good)).socket == good + "\n")
    let twice = #"{"id":1,"method":"token.get","method":"daemon.reload","params":{"instance":"desk"}}"#
    for text in [twice, "", "{", "{}{}", "\u{FEFF}"] {
      let result = translate(frame(text))
      #expect(result.socket.isEmpty && result.isOpen)
      #expect(try frames(result.output).first?.contains(#""id":null,"error":"#) == true)
    }
  }

  @Test("A false length ends the connection with a reason")
  func falseLength() throws {
    let result = translate(withUnsafeBytes(of: UInt32.max) { Array($0) })
    #expect(!result.isOpen && result.socket.isEmpty)
    #expect(try frames(result.output).first?.contains("larger than 1 MiB") == true)
  }

  @Test("A reply that no browser takes becomes an error, wherever the pieces end")
  func largeReply() throws {
    var translator = PageTranslator(rights: rights, frames: NativeFrames(limit: 1))
    let large = #"{"jsonrpc":"2.0","id":3,"result":"\#(String(repeating: "x", count: 1 << 20))"}"# + "\n{\"id\":4}\n"
    var output: [UInt8] = []
    let bytes = Array(large.utf8)
    for start in stride(from: 0, to: bytes.count, by: 10_000) {
      #expect(translator.readSocket(bytes[start..<min(start + 10_000, bytes.count)], toOutput: &output))
    }
    let texts = try frames(output)
    #expect(
      texts.count == 2 && texts[0].contains("replyTooLarge") && texts[0].contains(#""id":3"#)
        && texts[1] == #"{"id":4}"#)
  }

  @Test("A line without an end is not kept without limit")
  func endlessLine() {
    var translator = PageTranslator(rights: rights, frames: NativeFrames(limit: 1))
    var output: [UInt8] = []
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    #expect((1...9).contains { _ in !translator.readSocket(piece[...], toOutput: &output) })
    #expect(output.isEmpty)
  }
}
