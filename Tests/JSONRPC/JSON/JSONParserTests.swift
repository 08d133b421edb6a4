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

  @Test(arguments: [
    "", " ", "tru", "nul", "True", "nullx", "{", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"", "{\"a\":", "{\"a\":1",
    "{\"a\":1,}", "{a:1}", "{'a':1}", "{1:2}", "{\"a\" 1}", "[1 2]", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"",
    "\"\\u12g4\"", "\"\\U0041\"", "01", "-", "-01", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "1 2",
    "{} []", "null,", "\u{FEFF}1", "/* c */ 1", "1 // c", "]", "}", "\u{A0}1",
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
      #expect(error?.problem == "the member \"m\(repeated)\" stands twice")
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
