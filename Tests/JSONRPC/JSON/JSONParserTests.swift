import Testing

@testable import JSONRPC

struct JSONParserTests {
  private func parse(_ text: String) throws -> JSON { try JSONParser.parse(text) }

  @Test func `Literals and white space`() throws {
    #expect(try parse("null") == .null)
    #expect(try parse(" \t\r\n true \n") == true)
    #expect(try parse("false") == false)
    #expect(try parse("[ ]") == [])
    #expect(try parse("{ }") == [:])
    #expect(try parse(#"{"a":[1,{"b":null}]}"#) == ["a": [1, ["b": nil]]])
  }

  @Test(arguments: [
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#""\u0041\u00e9\u20AC""#, "A\u{E9}\u{20AC}"),
    (#""\u0000\u001f""#, "\u{0}\u{1F}"),
    (#""\ud83d\ude00\uD834\uDD1E""#, "\u{1F600}\u{1D11E}"),
    (#""\udbff\udfff\ud800\udc00""#, "\u{10FFFF}\u{10000}"),
    (#""é€😀""#, "\u{E9}\u{20AC}\u{1F600}"),
    (#""é\n€""#, "\u{E9}\n\u{20AC}"),
    (#""""#, ""),
  ])
  func `Every escape says its character`(text: String, expected: String) throws {
    let parsed = try #require(try parse(text).stringValue)
    #expect(Array(parsed.utf8) == Array(expected.utf8))
  }

  @Test(arguments: [
    #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\ud800\ud800""#,
    #""\udc00\ud800""#, #""\ud83d\"#, #""\ud83d\u"#,
  ])
  func `Lone surrogates are refused`(text: String) { #expect(throws: JSONSyntaxError.self) { try parse(text) } }

  @Test(
    "A server's text is read as other parsers read it",
    arguments: [
      (#""\ud83d""#, "\u{FFFD}"), (#""\udc00x""#, "\u{FFFD}x"), (#""\ud83d\n""#, "\u{FFFD}\n"),
      (#""\ud83d\ud83d\ude00""#, "\u{FFFD}\u{1F600}"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
      (#"{"a":1,"b":2,"a":3}"#, ["a": 3, "b": 2]),
      ("[" + String(repeating: "[", count: 40) + "\"]\\\"\"" + String(repeating: "]", count: 40) + ",7]", nil),
    ] as [(String, JSON?)])
  func serverText(text: String, value: JSON?) throws {
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text) }
    let read = try JSONParser.parse(text, .server)
    if let value { #expect(read == value) } else { #expect(read.arrayValue?.last == 7) }
    // The value can be written and read again.
    #expect(try JSONParser.parse(JSONWriter.bytes(of: read)) == read)
  }

  @Test("Of a long run of combining marks and of bytes that are not UTF-8, a server's text keeps what it can")
  func serverMarks() throws {
    let text = "\"a" + String(repeating: "\u{301}", count: 5000) + "b\""
    let read = try #require(try JSONParser.parse(text, .server).stringValue)
    #expect(read.unicodeScalars.count == JSONParser.maximumMarks + 2)
    #expect(read.unicodeScalars.last == "b")
    #expect(try JSONParser.parse([0x22, 0x61, 0xFF, 0x22], .server) == "a\u{FFFD}")
  }

  @Test(
    "A server's text that is no JSON is refused",
    arguments: [
      "", "[1,]", #""\ud83d"#, #"{"a":1"#, "\"a\u{1}\"", #""\ud83d\"#, String(repeating: "[", count: 40), "NaN",
    ])
  func serverNonsense(text: String) { #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text, .server) } }

  @Test(arguments: [
    "", " ", "tru", "nul", "True", "nullx", "{", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"", "{\"a\":", "{\"a\":1",
    "{\"a\":1,}", "{a:1}", "{'a':1}", "{1:2}", "{\"a\" 1}", "[1 2]", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"",
    "\"\\u12g4\"", "\"\\U0041\"", "01", "-", "-01", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "1 2",
    "{} []", "null,", "/* c */ 1", "1 // c", "]", "}", "\u{A0}1",
  ])
  func `What is not JSON is refused`(text: String) { #expect(throws: JSONSyntaxError.self) { try parse(text) } }

  @Test(arguments: 0..<32)
  func `Control characters in strings are refused`(byte: Int) throws {
    for text in ["\"\(Unicode.Scalar(UInt8(byte)))\"", "\"\\n\(Unicode.Scalar(UInt8(byte)))\""] {
      #expect(throws: JSONSyntaxError.self) { try parse(text) }
    }
    #expect(try parse("\"\u{7F}\"") == "\u{7F}")
  }

  @Test(arguments: [
    "0", "-0", "1.0", "1e0", "1E+2", "1.50", "-0.0", "12345678901234567890123", "1e400", "5e-324",
  ])
  func `Numbers are kept as written`(text: String) throws {
    let value = try parse(text)
    #expect(value == .number(JSONNumber(checked: text)))
    #expect(JSONWriter.text(of: value) == text)
  }

  @Test(arguments: [2, 3, 15, 16, 17, 18, 40])
  func `A name that stands twice is refused`(count: Int) throws {
    let names = (0..<count).map { "\"m\($0)\":0" }
    #expect(try parse("{\(names.joined(separator: ","))}").objectValue?.count == count)
    for repeated in Set([0, count / 3, count - 2]) {
      var twice = names
      twice[count - 1] = "\"m\(repeated)\":1"
      let error = #expect(throws: JSONSyntaxError.self) { try parse("{\(twice.joined(separator: ","))}") }
      #expect(error?.problem == "the member \"m\(repeated)\" occurs twice")
      #expect(error?.isBeyondLimits == true)
    }
    #expect(throws: JSONSyntaxError.self) { try parse(#"{"a":1,"\u0061":2}"#) }
  }

  @Test func `Thirty-two levels are taken and thirty-three refused`() throws {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      func nested(_ depth: Int) -> String {
        String(repeating: open, count: depth - 1) + (open == "[" ? "[]" : "{}")
          + String(repeating: close, count: depth - 1)
      }
      _ = try parse(nested(32))
      let error = #expect(throws: JSONSyntaxError.self) { try parse(nested(33)) }
      #expect(error?.problem == "nested deeper than 32")
      #expect(error?.isBeyondLimits == true)
      #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: open, count: 500_000)) }
    }
    // Siblings are not deeper.
    _ = try parse("[" + Array(repeating: "[[]]", count: 100).joined(separator: ",") + "]")
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0xAF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xFE],
      [0xF0, 0x80, 0x80, 0xAF],
    ] as [[UInt8]])
  func `Invalid UTF-8 is refused`(bytes: [UInt8]) {
    for prefix in [[], Array("\\n".utf8)] {
      let text = [0x22] + prefix + bytes + [0x22]
      #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text) }
      #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x7B] + text + Array(":1}".utf8)) }
    }
  }

  @Test("An invalid byte is found at any place of a text", arguments: [0, 1, 7, 8, 15, 16, 17, 31, 32, 63, 64, 200])
  func invalidByte(place: Int) throws {
    for rest in [0, 1, 40] {
      func text(_ bytes: [UInt8]) -> [UInt8] {
        [0x22] + Array(repeating: 0x61, count: place) + bytes + Array(repeating: 0x62, count: rest) + [0x22]
      }
      for invalid in [[0x80], [0xC3], [0xF0, 0x9F, 0x98]] as [[UInt8]] {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text(invalid)) }
        #expect(error?.problem == "a string is not UTF-8")
        #expect(error?.offset == 1 + place + invalid.count + rest)
      }
      for valid in ["\u{7F}", "\u{E9}", "\u{20AC}", "\u{1F600}"].map({ Array($0.utf8) }) {
        let parsed = try #require(try JSONParser.parse(text(valid)).stringValue)
        #expect(Array(parsed.utf8) == text(valid).dropFirst().dropLast())
      }
    }
  }

  @Test(
    "At most 128 combining marks stand in a row, in values and in names, escaped or not",
    arguments: ["\u{301}", "\u{316}\u{301}", "\u{344}", "\u{1D165}"])
  func combiningMarks(marks: String) throws {
    func text(_ count: Int) -> String {
      let scalars = Array(marks.unicodeScalars)
      return String(String.UnicodeScalarView((0..<count).map { scalars[$0 % scalars.count] }))
    }
    for write in [{ $0 }, Self.escaped] as [(String) -> String] {
      for (before, after) in [("\"a", "\""), ("\"", "\""), ("{\"x", "\":1}"), ("[\"", "b\"]")] {
        _ = try parse(before + write(text(128)) + after)
        _ = try parse(before + write(text(128)) + "x" + write(text(128)) + after)
        let error = #expect(throws: JSONSyntaxError.self) { try parse(before + write(text(129)) + after) }
        #expect(error?.problem == "a string has more than 128 combining marks in a row")
        #expect(error?.isBeyondLimits == true)
        #expect(throws: JSONSyntaxError.self) { try parse(before + "y" + write(text(3000)) + after) }
      }
    }
  }

  private static func escaped(_ text: String) -> String {
    text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  @Test("Names that are canonically equivalent are two members")
  func equivalentNames() throws {
    let object = try #require(try parse("{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue)
    #expect(object.count == 2)
    #expect(object["\u{E9}"] == 1)
    #expect(object["e\u{301}"] == 2)
    #expect(object != ["\u{E9}": 2, "e\u{301}": 1])
  }

  @Test("Text that is no JSON is invalid, not beyond the limits")
  func invalidText() {
    let error = #expect(throws: JSONSyntaxError.self) { try parse("{") }
    #expect(error?.isBeyondLimits == false)
    #expect(error?.predicate == "is not valid JSON: a member's name is expected at byte 1")
  }

  @Test func `The error says where`() {
    let error = #expect(throws: JSONSyntaxError.self) { try parse(#"{"a": tru}"#) }
    #expect(error?.offset == 6)
    #expect(error.map { "\($0)" } == "no JSON value begins here at byte 6")
  }

  @Test func `Sequences without contiguous storage are read too`() throws {
    let bytes = AnySequence(Array(#"[1,"a"]"#.utf8))
    #expect(try JSONParser.parse(bytes) == [1, "a"])
  }
}
