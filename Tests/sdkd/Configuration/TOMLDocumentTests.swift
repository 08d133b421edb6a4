import JSONRPC
import Testing

@testable import sdkd

struct TOMLDocumentTests {
  private func document(_ text: String) throws -> TOMLDocument { try TOMLDocument(bytes: Array(text.utf8)) }

  @Test func `Every kind of value comes through`() throws {
    let root = try document(
      #"""
      text = "a\u00e9\n"
      literal = 'C:\x'
      hex = 0xff
      low = -9223372036854775808
      half = 0.5
      yes = true
      list = [1, "two", { three = 3 }]
      empty = {}
      """#
    ).root
    #expect(
      JSON.object(root)
        == [
          "text": "aé\n", "literal": #"C:\x"#, "hex": 255, "low": JSON(Int.min), "half": 0.5, "yes": true,
          "list": [1, "two", ["three": 3]], "empty": [:],
        ])
    #expect(root.keys == ["text", "literal", "hex", "low", "half", "yes", "list", "empty"])
  }

  @Test func `Lines are those of the text, whatever stands between`() throws {
    let lines = try document(
      #"""
      # [comment]
      first = 1 # x = 2
      long = """
      [a]
      b = 1 \
        \"""
      c = "" """"
      raw = '''
      d = 1'''
      list = [ # [e]
        "one", "]",

        { f = "}", "g h" = [1,
          2] },
      ]
      [table."quoted.key"] # end
        'lit' . inner = { x.y = 1, z = "#" }
      [[array]]
      k = 1
      [array.sub]
      k = 2
      [[array]]
      k = 3
      [[array.deep]]
      m = 4
      [[array.deep]]
      m = 5
      """#
    ).lines
    let expected = [
      "first": 2, "long": 3, "raw": 8, "list": 10, "list[0]": 11, "list[1]": 11, "list[2]": 13, "list[2].f": 13,
      "list[2].g h": 13, "list[2].g h[1]": 14, "table.quoted.key": 16, "table.quoted.key.lit.inner": 17,
      "table.quoted.key.lit.inner.x.y": 17, "table.quoted.key.lit.inner.z": 17, "array[0]": 18, "array[0].k": 19,
      "array[0].sub.k": 21, "array[1]": 22, "array[1].k": 23, "array[1].deep[0].m": 25, "array[1].deep[1].m": 27,
    ]
    for (path, line) in expected {
      #expect(lines.has(path), "\(path)")
      #expect(lines.line(of: path) == line, "\(path)")
    }
    #expect(!lines.has("b") && !lines.has("d") && !lines.has("e") && !lines.has("x"))
    #expect(lines.line(of: "array[1].missing") == 22)
    #expect(lines.line(of: "nowhere.at.all") == 1)
  }

  @Test func `The ends of lines may be Windows' and a mark may come first`() throws {
    let found = try document("\u{FEFF}a = 1\r\n[t]\r\nb = \"\"\"x\r\n\"\"\"\r\nc = 2\r\n")
    #expect(found.lines.line(of: "t.c") == 5)
    #expect(found.root["t"]?["c"] == 2)
  }

  @Test(arguments: [
    ([0x61, 0x3D, 0x31, 0x0A, 0x62, 0xFF], 2, "The text is not valid UTF-8."),
    ([0x0A, 0x23, 0x00], 2, "A NUL character can't stand in a configuration."),
    (Array(#"a = "x\u0000y""#.utf8), 1, "A NUL character can't stand in a configuration."),
    (Array("\n\"\\U00000000\" = 1".utf8), 2, "A NUL character can't stand in a configuration."),
    (Array("k = \(String(repeating: "[", count: 5000))".utf8), 1, "Values are nested more than 32 deep."),
    (Array("k\(String(repeating: ".k", count: 100_000)) = 1\n?".utf8), 1, "A key has more than 16 parts."),
    (Array("[k\(String(repeating: ".k", count: 100_000))]".utf8), 1, "A key has more than 16 parts."),
    (Array("\(String(repeating: "k", count: 300)) = 1".utf8), 1, "A key is longer than 256 bytes."),
  ])
  func `What the parser must not get is refused before`(bytes: [UInt8], line: Int, message: String) throws {
    #expect(throws: TOMLSyntaxProblem(line: line, message: message)) { try TOMLDocument(bytes: bytes) }
  }

  @Test func `A dotted key may add to a table that only the header of an inner one began`() throws {
    let root = try document("[a.b.c]\nz = 9\n[a]\nb.x = 1").root
    #expect(JSON.object(root) == ["a": ["b": ["c": ["z": 9], "x": 1]]])
    #expect(throws: TOMLSyntaxProblem.self) { try document("[a.b.c]\nz = 9\n[a]\nb.x = 1\n[a.b]") }
    #expect(throws: TOMLSyntaxProblem.self) { try document("[a.b.c]\nz = 9\n[a]\nb.c.x = 1") }
  }

  @Test func `Deep tables with long names are refused before they cost much`() throws {
    let names = (0..<16).map { _ in String(repeating: "n", count: 250) }.joined(separator: ".")
    let text = "x = " + String(repeating: "{\(names) = ", count: 30) + "1" + String(repeating: "}", count: 30)
    let message = "A key with the tables around it is longer than 2048 bytes."
    #expect(throws: TOMLSyntaxProblem(line: 1, message: message)) { try document(text) }
    #expect(throws: TOMLSyntaxProblem(line: 1, message: message)) { try document("[\(names)]") }
  }

  @Test func `Long arrays leave room for the lines of keys`() throws {
    let list = "[" + String(repeating: "1,", count: 1023) + "]"
    let text = (0..<17).map { "l\($0) = \(list)\n" }.joined() + "[net]\nkey = 2"
    #expect(try document(text).lines.line(of: "net.key") == 19)
  }

  @Test func `A literal string may spell an escape`() throws {
    #expect(try document(#"a = '\u0000'"#).root["a"] == #"\u0000"#)
  }

  @Test func `More keys than anyone writes are refused`() throws {
    let text = (0..<5000).map { "k\($0) = 1\n" }.joined()
    #expect(throws: TOMLSyntaxProblem(line: 4097, message: "The file has more than 4096 keys.")) {
      try TOMLDocument(bytes: Array(text.utf8))
    }
  }

  @Test(arguments: [
    "2024-01-02", "07:32:00", "1979-05-27T07:32:00Z", "[1, 1979-05-27 07]", "1979-05-27 0", "{ a = 1979-05-27 0}",
  ])
  func `Dates and times are refused with their line`(value: String) throws {
    #expect(throws: TOMLSyntaxProblem(line: 2, message: "Dates and times have no meaning here; text stands in quotes."))
    {
      try document("\na = \(value)\n")
    }
  }

  @Test(arguments: ["inf", "-inf", "+nan", "[1, nan]"])
  func `Numbers are finite`(value: String) throws {
    #expect(throws: TOMLSyntaxProblem(line: 1, message: "A number must be finite; inf and nan have no meaning here.")) {
      try document("a = \(value)")
    }
  }

  @Test func `A number beyond the largest is refused`() throws {
    for number in ["1e999", "9223372036854775808"] {
      #expect(throws: TOMLSyntaxProblem(line: 1, message: "This number is too large.")) {
        try document("a = \(number)")
      }
    }
    #expect(throws: TOMLSyntaxProblem.self) { try document("a = \(String(repeating: "9", count: 4000))") }
  }

  @Test(arguments: [
    ("1", true), ("-0", true), ("+1_000", true), ("1.5", true), ("1e5", true), ("-1.5E+3", true), ("0x1f_F", true),
    ("0o17", true), ("0b01", true), ("01", false), ("1_", false), ("_1", false), ("1__0", false), (".5", false),
    ("5.", false), ("1e", false), ("-0x1", false), ("0x", false), ("0b2", false), ("True", false), ("info", false),
    ("1.2.3", false), ("+", false), ("--1", false), ("1-2", false),
  ])
  func `Numbers are those of TOML`(word: String, isRight: Bool) throws {
    #expect(((try? document("a = \(word)")) != nil) == isRight)
  }

  @Test(arguments: [
    ("[=]", "A key is expected"), ("[]", "A key is expected"), ("[[a]", "] is expected"), ("a", "= is expected"),
    ("a = ", "A value is expected"), ("a = [1 2]", "] is expected or a comma"),
    ("a = [1,\n\n", "An array that begins here"),
    ("a = {\nb = 1}", "stands on one line"), ("a = info", "neither a number nor"),
    ("a = {b = 1\n}", "} is expected or a comma"), ("a = {b = 1,\n}", "stands on one line"), ("a = 'b", "not closed"),
    ("a = \"\"\"b\"\"", "not closed"),
    ("a = \"\\q\"", "A backslash stands before"), ("a = \"\\ud800\"", "A Unicode escape"),
    ("a = \"\\u12\"", "A Unicode"),
    ("a = 1 b = 2", "Something follows"), ("[a] b = 2", "Something follows"), ("a = 1\na = 2", "a is defined twice"),
    ("a = {b = 1,}", "No comma may stand"), ("a = \"\u{7}\"", "control character"),
    ("[a.b]\n[a]\nb.c = 1", "a.b is complete already"),
    ("a.b = 1\n[a]", "a is defined twice"), ("a = 1\n[a.b]", "a is a value already"),
    ("a = {}\na.b = 1", "a is complete already"),
    ("[[a]]\n[a]", "a is defined twice"), ("a = 1\r", "Something follows"), ("# \u{7F}", "in a comment"),
  ])
  func `What is no TOML is said`(text: String, words: String) throws {
    let problem = #expect(throws: TOMLSyntaxProblem.self) { try document(text) }
    #expect(problem?.message.contains(words) == true, "\(problem?.message ?? "")")
  }
}
