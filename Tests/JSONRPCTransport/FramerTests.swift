import Randomness
import Testing

@testable import JSONRPCTransport

struct FramerTests {
  /// Returns all frames of `text` when it is appended in pieces of these sizes.
  private func frames(
    _ text: String, pieces: [Int], limit: Int = 64, finish: Bool = true, framing: Framing? = nil
  ) -> [String] {
    var framer = Framer(limit: limit, framing: framing)
    var found: [String] = []
    func drain(_ framer: inout Framer) {
      while let output = framer.next() {
        switch output {
        case .frame(let line): found.append(String(decoding: line, as: UTF8.self))
        case .tooLarge: found.append("<too large>")
        case .malformed(let message), .foreign(let message): found.append("<\(message.prefix { $0 != "." })>")
        }
      }
    }
    var rest = Array(text.utf8)[...]
    var index = 0
    while !rest.isEmpty {
      framer.append(rest.prefix(pieces[index % pieces.count]))
      rest = rest.dropFirst(pieces[index % pieces.count])
      index += 1
      drain(&framer)
    }
    if finish {
      framer.finish()
      drain(&framer)
    }
    return found
  }

  @Test(arguments: [
    ("a\nb\n", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("\n\r\n  \t\r\na\n\n", ["a"]), ("a\nb", ["a", "b"]),
    ("a\nb\r", ["a", "b"]), ("", []), ("\n", []), ("\r", []), ("  ", []), (" a \n", [" a "]), ("a\rb\n", ["a\rb"]),
  ])
  func cutsLines(text: String, expected: [String]) {
    #expect(frames(text, pieces: [1000], framing: .lines) == expected)
    #expect(frames(text, pieces: [1], framing: .lines) == expected)
    #expect(frames(text, pieces: [2, 1, 3], framing: .lines) == expected)
  }

  private static let body = #"{"a":"ä"}"#

  @Test(
    "A first C chooses headers, whatever their order, case and line ends",
    arguments: [
      "Content-Length: 10\r\n\r\n", "content-length:10\r\n\r\n", "CONTENT-LENGTH: \t10 \t\r\n\r\n",
      "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 10\r\n\r\n",
      "Content-Length: 0010\r\nX-Other:\r\nContent-Type: application/json;charset=\"UTF8\"\r\n\r\n",
      "Content-Length: 10\n\n", "c: d: e\r\nContent-Length: 10\r\n\r\n",
    ])
  func cutsTexts(header: String) {
    for pieces in [[1000], [1], [2, 1, 3], [37]] {
      #expect(frames(header + Self.body + header + Self.body, pieces: pieces) == [Self.body, Self.body])
    }
  }

  @Test("An empty text is a frame, and a line feed in a text is part of it")
  func textsAreNotLines() {
    #expect(frames("Content-Length: 0\r\n\r\nContent-Length: 4\r\n\r\n{\n}\n", pieces: [1]) == ["", "{\n}\n"])
  }

  @Test(
    "A header that can't be meant is refused at its first wrong line, and nothing after it is read",
    arguments: [
      ("Content-Length: -1\r\n", "The Content-Length is not a decimal number of bytes"),
      ("Content-Length: +1\r\n", "The Content-Length is not a decimal number of bytes"),
      ("Content-Length: 0x1\r\n", "The Content-Length is not a decimal number of bytes"),
      ("Content-Length: 1 1\r\n", "The Content-Length is not a decimal number of bytes"),
      ("Content-Length: \r\n", "The Content-Length is not a decimal number of bytes"),
      ("Content-Length: ١\r\n", "The Content-Length is not a decimal number of bytes"),
      ("Content-Length: 1\r\nContent-Length: 1\r\n", "A header has more than one Content-Length"),
      ("Content-Type: text/plain\r\n\r\n", "A header has no Content-Length"),
      ("Content-Type: application/json; charset=utf-16\r\n", "The charset of the Content-Type is not UTF-8"),
      ("Content-Length 1\r\n", "Line 1 of a header is not a name, a colon and a value"),
      ("Content-Length : 1\r\n", "Line 1 of a header is not a name, a colon and a value"),
      ("CONNECT a:1 HTTP/1.1\r\n", "Line 1 of a header is not a name, a colon and a value"),
      ("C: d\r\n folded: e\r\n", "Line 2 of a header is not a name, a colon and a value"),
      ("Content-Length: 1\r\n\r\n1{\"jsonrpc\":\"2.0\"}\n", "Line 1 of a header is not a name, a colon and a value"),
    ])
  func refusesHeaders(text: String, reason: String) {
    for pieces in [[1000], [1], [3]] {
      let found = frames(text + "Content-Length: 1\r\n\r\n1", pieces: pieces, finish: false)
      #expect(found.last == "<\(reason)>")
      #expect(found.dropLast().allSatisfy { $0 == "1" })
    }
  }

  @Test("A header has at most 16 lines and 4096 bytes", arguments: [1, 100, 10_000])
  func headerBounds(piece: Int) {
    let length = "Content-Length: 1\r\n"
    let others = { String(repeating: "C: d\r\n", count: $0) }
    #expect(frames(others(15) + length + "\r\n1", pieces: [piece]) == ["1"])
    #expect(frames(others(17), pieces: [piece], finish: false) == ["<A header has more than 16 lines>"])
    let padding = { (count: Int) in "C:\(String(repeating: " ", count: count - 5))x\r\n\(length)\r\n" }
    #expect(frames(padding(4096 - length.utf8.count - 2) + "1", pieces: [piece]) == ["1"])
    let tooLarge = "<A header is larger than 4096 bytes>"
    #expect(frames(padding(4097 - length.utf8.count - 2) + "1", pieces: [piece], finish: false) == [tooLarge])
    #expect(
      frames("C:" + String(repeating: "x", count: 4095), pieces: [piece], finish: false) == [tooLarge])
  }

  @Test(
    "A length over the limit is refused before the text arrives",
    arguments: ["9", "9223372036854775808", String(repeating: "9", count: 3000)])
  func lengthsOverTheLimit(length: String) {
    #expect(frames("Content-Length: \(length)\r\n\r\n", pieces: [7], limit: 8, finish: false) == ["<too large>"])
  }

  @Test("The end of the input inside a message with a header is malformed, and between two it is not")
  func endsOfTheInput() {
    let whole = "Content-Length: 2\r\n\r\n{}"
    let reason = "<The input ended inside a message>"
    #expect(frames(whole, pieces: [1]) == ["{}"])
    for cut in 1..<whole.count { #expect(frames(whole + whole.prefix(cut), pieces: [1]) == ["{}", reason]) }
  }

  @Test("HTTP is refused as soon as its method is read, and a line that only begins like it is a line")
  func http() {
    let refused = "<This socket does not speak HTTP>"
    for text in [
      "GET / HTTP/1.1\r\n\r\n", "POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "OPTIONS *", "PRI * HTTP/2.0",
    ] {
      #expect(frames(text, pieces: [1]) == [refused])
      #expect(frames(text, pieces: [1000]) == [refused])
    }
    for text in ["\"POST \"", "{\"GET \":1}"] { #expect(frames(text, pieces: [1]) == [text]) }
  }

  private static let foreign = "<The first byte begins no JSON text>"

  @Test("A first byte that begins no message ends the connection, whatever follows", arguments: [1, 3, 1000])
  func foreign(piece: Int) {
    for byte in UInt8.min...UInt8.max {
      var framer = Framer(limit: 64)
      framer.append([byte, UInt8(ascii: "1"), UInt8(ascii: "\n")])
      framer.finish()
      let first = framer.next()
      let isText = Array("{[\"-0123456789tfn \t\r\n\u{FEFF}".utf8).contains(byte) && byte != 0xBB && byte != 0xBF
      switch first {
      case .frame: #expect(isText, "\(byte)")
      case .foreign: #expect(!isText && byte | 0x20 != UInt8(ascii: "c"), "\(byte)")
      case .malformed: #expect(byte | 0x20 == UInt8(ascii: "c"), "\(byte)")
      case .tooLarge, nil: Issue.record("\(byte)")
      }
    }
    for text in [
      "GE", "GET", "GETS ", "get / HTTP/1.1", "P", "EHLO x\r\n{}\n", "*1\r\n$4\r\nPING\r\n{}\n",
      "\0AUTH EXTERNAL\r\n{}\n",
      "\u{1}\u{1}\0{}\n", "lx{}\n", "stats\r\n{}\n", "SSH-2.0-x\r\n{}\n", "a\nb\n",
    ] {
      #expect(frames(text, pieces: [piece]) == [Self.foreign], "\(text)")
    }
  }

  @Test(
    "White space and a byte order mark may precede the first message", arguments: [" ", "\t", "\r\n", "\n", "\u{FEFF}"])
  func beforeTheFirst(text: String) {
    #expect(frames(text + "{}\n", pieces: [1]).last?.hasSuffix("{}") == true)
  }

  @Test("A header after a line is refused")
  func headerAfterALine() {
    let refused = "<A header follows a line on the same connection>"
    #expect(frames("{}\nContent-length: 2\r\n\r\n{}", pieces: [1]) == ["{}", refused])
    #expect(frames("{}\ncontent\nCo\n", pieces: [1]) == ["{}", "content", "Co"])
  }

  @Test("Messages with headers are the same however their bytes arrive")
  func piecesDoNotMatter() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      let texts = (0..<4).map { _ in String(repeating: "\n{\r", count: Int.random(in: 0...12, using: &random)) }
      let stream = texts.map { "Content-Length: \($0.utf8.count)\r\nC: d\r\n\r\n\($0)" }.joined()
      let pieces = (0..<5).map { _ in Int.random(in: 1...40, using: &random) }
      #expect(frames(stream, pieces: pieces) == texts, "by \(pieces)")
    }
  }

  @Test func keepsAnUnfinishedLineUntilTheEnd() {
    #expect(frames("1\n23", pieces: [1], finish: false) == ["1"])
  }

  @Test(arguments: [1, 3, 1000])
  func holdsTheLimit(piece: Int) {
    let full = String(repeating: "1", count: 8)
    #expect(frames(full + "\n", pieces: [piece], limit: 8) == [full])
    #expect(frames(full + "\r\n", pieces: [piece], limit: 8) == [full])
    #expect(frames(full, pieces: [piece], limit: 8) == [full])
    #expect(frames(full + "x\nnext\n", pieces: [piece], limit: 8) == ["<too large>"])
    #expect(frames("1\n" + full + "x", pieces: [piece], limit: 8, finish: false) == ["1", "<too large>"])
    #expect(frames(full + "\rx\n", pieces: [piece], limit: 8) == ["<too large>"])
  }

  @Test("Blank lines are counted as they are skipped")
  func countsBlankLines() {
    var framer = Framer(limit: 8)
    framer.append(Array("\n \r\na\n\n".utf8))
    #expect(framer.next() == .frame(Array("a".utf8)[...]))
    #expect(framer.skippedLines == 2)
    #expect(framer.next() == nil)
    #expect(framer.skippedLines == 1)
    #expect(framer.next() == nil)
    #expect(framer.skippedLines == 0)
  }

  @Test("The memory of a long message is freed as soon as nothing is left to read", arguments: ["", "Content-Length"])
  func freesTheMemoryOfALongMessage(header: String) {
    var framer = Framer(limit: 1 << 20)
    let text = String(repeating: "1", count: 1 << 20)
    framer.append(Array((header.isEmpty ? text + "\n" : "\(header): \(text.utf8.count)\r\n\r\n\(text)").utf8))
    #expect(framer.next() != nil)
    #expect(framer.capacity > 1 << 20)
    #expect(framer.next() == nil)
    #expect(framer.capacity <= 4096)
  }

  @Test func dropsWhatFollowsALineThatIsTooLarge() {
    var framer = Framer(limit: 4)
    framer.append(Array("12345".utf8))
    let first = framer.next()
    #expect(first == .tooLarge)
    framer.append(Array(repeating: UInt8(0x61), count: 1 << 20))
    let second = framer.next()
    #expect(second == nil)
    #expect(framer.pendingBytes == 0)
  }

  @Test func agreesWithSplittingHoweverTheBytesArrive() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let text = String(
        (0..<Int.random(in: 0..<60, using: &random)).map { _ in "ab{}\" \n\n\r".randomElement(using: &random) ?? "a" })
      let expected = Array(text.utf8).split(separator: 0x0A).map { line in
        line.last == 0x0D ? line.dropLast() : line
      }.filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x0D } }.map { String(decoding: $0, as: UTF8.self) }
      let pieces = (0..<5).map { _ in Int.random(in: 1...9, using: &random) }
      #expect(frames(text, pieces: pieces, framing: .lines) == expected, "\(text.debugDescription) by \(pieces)")
    }
  }

  /// Each byte is scanned once. A scan from the start for every byte would take 2^39 steps.
  @Test(.timeLimit(.minutes(1))) func looksAtEveryByteOnce() {
    var framer = Framer(limit: 1 << 20)
    for _ in 0..<(1 << 20) {
      framer.append(CollectionOfOne(UInt8(0x31)))
      if framer.next() != nil { Issue.record("a line too early") }
    }
    framer.append(CollectionOfOne(UInt8(0x0A)))
    guard case .frame(let line)? = framer.next() else {
      Issue.record("no frame")
      return
    }
    #expect(line.count == 1 << 20)
  }
}
