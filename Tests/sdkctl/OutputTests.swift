import Glibc
import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

struct OutputTests {
  @Test func columnsAreAligned() {
    let table = Table(header: ["A", "LONG"], rows: [["wide cell", "x"], ["", .init("é\u{1B}", .bad)]])
    #expect(table.text(hasColour: false) == "A          LONG\nwide cell  x\n           é\\u001b\n")
  }

  @Test func coloursDontMoveColumns() {
    let table = Table(header: ["A", "B"], rows: [[.init("x", .good), "y"]])
    #expect(table.text(hasColour: true) == "\u{1B}[1mA\u{1B}[0m  \u{1B}[1mB\u{1B}[0m\n\u{1B}[32mx\u{1B}[0m  y\n")
  }

  @Test func longTextGoesOnBelowItselfWhereThereIsAWidth() {
    let table = Table(header: [], rows: [["name", "one two three four five six seven"], ["n", "short"]])
    #expect(
      table.text(hasColour: false, width: 30) == """
        name  one two three four five
              six seven
        n     short

        """)
    #expect(table.text(hasColour: false) == "name  one two three four five six seven\nn     short\n")
    // With less than 12 columns for the last cell, the text is not wrapped. The terminal breaks the line instead.
    #expect(table.text(hasColour: false, width: 18).split(separator: "\n").count == 5)
    #expect(table.text(hasColour: false, width: 17).split(separator: "\n").count == 2)
  }

  @Test("A long line is wrapped between words on a terminal only")
  func longLines() throws {
    let text = EventLine.text(of: ["time": "noon", "instance": "desk", "type": "t", "data": ["a": "one", "hints": []]])
    #expect(text == "noon  desk  t  a=one")
    for (width, expected) in [(18, "noon  desk  t\n    a=one\n"), (nil, text + "\n")] as [(Int?, String)] {
      var written: [UInt8] = []
      try Output(width: width) { written += $0 }.wrapped(line: text)
      #expect(String(decoding: written, as: UTF8.self) == expected)
    }
  }

  @Test("A terminal gets times of the machine's time zone, all else gets UTC")
  func times() throws {
    let time = try #require(Timestamp("2026-07-01T22:59:58.987Z"))
    var (seconds, parts) = (time_t(time.secondsSince1970), tm())
    localtime_r(&seconds, &parts)
    let local = "\((time + Double(parts.tm_gmtoff)).description.prefix(19))".replacing("T", with: " ")
    let terminal = Output(isTerminal: true) { _ in }
    #expect(terminal.text(of: time) == local)
    #expect(Output { _ in }.text(of: time) == "2026-07-01T22:59:58.987Z")
    let event: JSON = ["time": .string(time.description), "instance": "desk", "type": "t"]
    #expect(EventLine.text(of: event, time: terminal.text(of:)) == "\(local)  desk  t")
    #expect(EventLine.text(of: event) == "2026-07-01T22:59:58.987Z  desk  t")
  }

  @Test func anEmptyTable() {
    #expect(Table(header: [], rows: []).text(hasColour: true).isEmpty)
  }

  @Test(arguments: [
    ("plain é 漢", "plain é 漢"), ("a\nb", #"a\u000ab"#), ("\u{1B}]0;x\u{7}", #"\u001b]0;x\u0007"#),
    ("\u{61C}a", #"\u061ca"#), ("a\u{200B}b", #"a\u200bb"#), ("\u{200C}\u{200D}", #"\u200c\u200d"#),
    ("\u{200E}\u{200F}", #"\u200e\u200f"#), ("\u{FEFF}", #"\ufeff"#), ("\u{AD}\u{2060}", #"\u00ad\u2060"#),
    ("\u{E0061}", #"\udb40\udc61"#), ("\u{9B}2J", #"\u009b2J"#), ("a\u{202E}b", #"a\u202eb"#), ("\u{7F}", #"\u007f"#),
  ])
  func controlCharactersAreShown(_ text: String, _ expected: String) {
    #expect(SafeText.escaped(text) == expected)
  }

  @Test func escapedJSONIsTheSameValue() throws {
    let value: JSON = ["k": "\u{9B}\u{202E}\u{FEFF}\u{E0061}\n"]
    #expect(try JSONParser.parse(SafeText.escaped(JSONWriter.text(of: value))) == value)
  }

  @Test func membersAsPaths() {
    let table = MemberTable.table(of: [
      "a": ["b": 1, "c": []], "list": ["x", "y"], "objects": [["n": nil]], "token": "s",
      "http": ["headers": ["H": "s"]],
    ])
    #expect(
      table.text(hasColour: false) == """
        a.b             1
        a.c
        list            x, y
        objects.0.n     -
        token           ‹secret›
        http.headers.H  ‹secret›

        """)
  }

  @Test(arguments: [
    ("{a.b} {{x}} {list.1}", "5 {x} two"), ("{missing}.{a.missing}.{list.7}", ".."), (#"{a}\n"#, "{\"b\":5}\n"),
  ])
  func templates(_ template: String, _ expected: String) throws {
    let json: JSON = ["a": ["b": 5], "list": ["one", "two"]]
    #expect(try #require(Template(argument: template)).text(of: json) == expected)
  }

  @Test(arguments: ["{", "a{b", "}", "{{}"]) func templatesThatAreNone(_ template: String) {
    #expect(Template(argument: template) == nil)
  }

  @Test(arguments: [
    (0.25, "250 ms"), (42, "42 s"), (90, "1 min 30 s"), (3000, "50 min"), (3600, "1 h"), (12_000, "3 h 20 min"),
    (100_000, "1 d 3 h"), (-42, "-42 s"), (.infinity, "?"),
  ])
  func durations(_ seconds: Double, _ expected: String) {
    #expect(Elapsed.text(seconds: seconds) == expected)
  }

  @Test func anEventOnALine() {
    let event: JSON = [
      "cursor": "c", "time": "T", "instance": "kiosk", "service": "chat", "type": "userLoggedIn",
      "data": ["user": ["externalId": "alice", "verified": true], "cause": "x\ny"],
    ]
    #expect(EventLine.text(of: event) == "T  kiosk/chat  userLoggedIn  user=alice cause=x\ny")
    let long: JSON = ["data": ["text": .string(String(repeating: "x", count: 500))]]
    #expect(EventLine.text(of: long).count < 200)
  }

  @Test func keysOfAHiddenLine() {
    var line: [UInt8] = []
    for byte in Array("abé".utf8) + [0x7F, 0x7F] { #expect(HiddenLine.take(byte, into: &line)) }
    #expect(line == Array("a".utf8))
    #expect(HiddenLine.take(0x15, into: &line))
    #expect(line.isEmpty)
    #expect(!HiddenLine.take(0x0D, into: &line))
  }
}
