import Foundation
import JSONRPC
import Testing

/// Both framings with the real binary: the first byte of a connection chooses lines or headers with a Content-Length.
@Suite struct FramingTests {
  @Test("Connections with headers and with lines are served side by side, each in its framing")
  func sideBySide() throws {
    let desk = try Desk.open()
    let (headers, lines) = (try desk.connect(hasHeaders: true), try desk.connect())
    for line in [headers, lines, headers] { #expect(try line.call("daemon.info")["name"] == "sdkd") }
    #expect(try headers.failure("token.get", ["instance": "nobody"]).reason == "instanceNotFound")
    headers.send(message: [["jsonrpc": "2.0", "id": 1, "method": "daemon.info"], 1])
    #expect(try headers.json()?.arrayValue?.count == 2)
  }

  @Test("Events, large frames and replies larger than the socket's buffer have headers")
  func eventsAndLargeMessages() throws {
    let desk = try Desk.open()
    let line = try desk.connect(hasHeaders: true)
    try line.call("events.subscribe")
    try desk.create("desk", on: line)
    #expect(try line.notification("events.event")["event"]?["type"] == "instanceCreated")
    let value = String(repeating: "ä\n", count: 6000)
    try line.call("storage.put", ["instance": "desk", "key": "k", "value": .string(value)])
    #expect(try line.call("storage.get", ["instance": "desk", "key": "k"])["value"]?.stringValue == value)
    #expect(try line.call("rpc.discover")["openrpc"] != nil)
    let error = try line.failure("daemon.info", ["unknown": .string(String(repeating: "x", count: 70_000))])
    #expect(error.reason == "frameTooLarge")
  }

  @Test("A delegate's requests have headers when its connection has")
  func delegate() throws {
    let desk = try Desk.open()
    let (delegate, line) = (try desk.connect(hasHeaders: true), try desk.connect())
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 60))])
    try delegate.call("delegate.attach", ["instances": ["desk"]])
    let id = line.begin("token.refresh", ["instance": "desk"])
    let question = try #require(try delegate.json())
    #expect(question["method"]?.stringValue?.hasPrefix("delegate.") == true)
    let token = try Vendor.mint("alice", ttl: 3600)
    delegate.send(message: ["jsonrpc": "2.0", "id": question["id"] ?? .null, "result": ["token": .string(token)]])
    #expect(try line.answer(id)["result"]?["token"]?.stringValue == token)
  }

  @Test("A connection with headers is told that the daemon stops, and its calls are answered")
  func stop() throws {
    let desk = try Desk.open()
    let line = try desk.connect(hasHeaders: true)
    try line.call("events.subscribe")
    #expect(desk.stop() == 0)
    #expect(try line.notification("daemon.closing")["graceSeconds"] != nil)
    while try line.line() != nil {}
  }

  @Test("After a half-close the last complete message is answered, and a cut one gets an error")
  func halfClose() throws {
    let desk = try Desk.open()
    let line = try desk.connect(hasHeaders: true)
    let id = line.begin("daemon.health")
    line.send("Content-Length: 1000\r\n\r\n{\"jsonrpc\":")
    line.halfClose()
    let messages = [try line.json(), try line.json()]
    #expect(messages.contains { $0?["id"]?.intValue == id && $0?["result"] != nil })
    #expect(messages.contains { $0?["id"] == .null && $0?["error"]?["code"] == -32600 })
    #expect(try line.line() == nil)
  }

  @Test("Bad headers get an error that says why, and only their connection ends")
  func badHeaders() throws {
    let desk = try Desk.open(configuration: "[limits]\nframe_timeout = \"1s\"\n")
    let other = try desk.connect(hasHeaders: true)
    for (text, word) in [
      ("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "more than one"), ("Content-Length: -1\r\n", "decimal"),
      ("Content-Length: +1\r\n", "decimal"), ("Content-Length: 9223372036854775808\r\n\r\n", "larger than"),
      ("Content-Length: 1048577\r\n\r\n", "larger than"), ("Content-Length 2\r\n", "a name, a colon"),
      (String(repeating: "C: d\r\n", count: 17), "16 lines"),
      ("C: \(String(repeating: "d", count: 4100))", "4096 bytes"),
      ("Content-Type: x\r\n\r\n", "no Content-Length"), ("Content-Length: 2\r\n\r\n{", "not complete in time"),
      ("Content-Length: 2\r\n\r\n{}{\"jsonrpc\":\"2.0\"}\n", "a name, a colon"),
    ] {
      let line = try desk.connect(hasHeaders: true)
      line.send(text)
      var last: JSON?
      while let message = try line.json() { last = message }
      #expect(last?["error"]?["code"] == -32600, "\(text.prefix(40))")
      #expect(last?["error"]?["message"]?.stringValue?.contains(word) == true, "\(text.prefix(40))")
      #expect(last?["id"] == .null)
      #expect(try other.call("daemon.info")["name"] == "sdkd")
    }
  }

  @Test("HTTP gets one response with the status 400 that names both framings", arguments: ["GET", "POST", "PUT"])
  func http(method: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"}"
    line.send("\(method) / HTTP/1.1\r\nHost: x\r\nContent-Length: \(call.utf8.count + 1)\r\n\r\n\(call)\n")
    line.send("\n")
    var lines: [String] = []
    while let text = try line.line() { lines.append(text) }
    #expect(lines.first == "HTTP/1.1 400 Bad Request\r")
    #expect(lines.last == "\r")
  }

  @Test(
    "A connection that begins as another protocol gets one error and ends, and JSON behind that is not run",
    arguments: [
      "EHLO localhost\r\n", "*1\r\n$4\r\nPING\r\n", "\0AUTH EXTERNAL 30\r\n", "\u{1}\u{1}\0\u{1}\n", "l\u{b}\n",
      "stats\r\n",
      "SSH-2.0-OpenSSH\r\n", "helo\n", "GETS /\n", "}\n", ",\n", "\u{7F}\n",
    ])
  func otherProtocols(beginning: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let params = #"{"instance":"led","kind":"zendesk.messaging","settings":{"app_id":"a"}}"#
    let create = #"{"jsonrpc":"2.0","id":1,"method":"instance.create","params":\#(params)}"#
    line.send(beginning + create + "\n" + #"{"jsonrpc":"2.0","id":2,"method":"daemon.info"}"# + "\n")
    let answer = try #require(try line.json())
    #expect(answer["id"] == .null)
    #expect(answer["error"]?["code"] == -32700)
    #expect(try line.json() == nil)
    #expect(try desk.connect().call("instance.list")["instances"] == [])
  }

  @Test("curl shows the error of an HTTP request")
  func curl() throws {
    let desk = try Desk.open()
    let output = desk.folder.appendingPathComponent("curl")
    let curl = try Program(
      "/usr/bin/curl",
      [
        "--silent", "--show-error", "--unix-socket", desk.socket, "--data", "{}", "--write-out", " %{http_code}",
        "http://x/",
      ], output: output, log: desk.folder.appendingPathComponent("curl.err"))
    #expect(curl.exit(within: 30) == 0, "\(curl.logText)")
    let text = try String(contentsOf: output, encoding: .utf8)
    #expect(text.hasSuffix(" 400"))
    #expect(text.contains("one JSON text per line") && text.contains("Content-Length"))
  }
}
