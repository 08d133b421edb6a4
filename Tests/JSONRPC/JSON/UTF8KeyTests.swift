import JSONRPC
import Testing

struct UTF8KeyTests {
  @Test(
    "Texts of the same bytes are equal, however long",
    arguments: [
      "", "a", "jsonrpc", "é😀", "\u{0}", String(repeating: "x", count: 15), String(repeating: "é", count: 500),
    ])
  func sameBytes(text: String) {
    let other = String(decoding: Array(text.utf8), as: UTF8.self)
    #expect(text.hasSameBytes(as: other))
    #expect(UTF8Key(text) == UTF8Key(other))
    #expect(UTF8Key(text).hashValue == UTF8Key(other).hashValue)
  }

  @Test(
    "Texts of other bytes differ",
    arguments: [
      ("", "a"), ("", "\u{0}"), ("method", "params"), ("token", "token.get"), ("a", "A"), ("a\u{0}b", "a\u{0}c"),
      (String(repeating: "x", count: 15), String(repeating: "x", count: 16)),
      (String(repeating: "x", count: 99) + "y", String(repeating: "x", count: 99) + "z"),
    ])
  func otherBytes(one: String, other: String) {
    #expect(!one.hasSameBytes(as: other))
    #expect(!other.hasSameBytes(as: one))
    #expect(Set([UTF8Key(one), UTF8Key(other)]).count == 2)
  }

  /// The second and third pair have the same number of bytes, so that the count alone does not tell them apart.
  @Test(
    "Texts that are canonically equivalent differ",
    arguments: [
      ("\u{E9}", "e\u{301}"), ("a\u{316}\u{301}", "a\u{301}\u{316}"), ("\u{387}", "\u{B7}"), ("\u{212A}", "K"),
    ])
  func equivalentTexts(one: String, other: String) {
    #expect(one == other)
    #expect(!one.hasSameBytes(as: other))
    #expect(Set([UTF8Key(one), UTF8Key(other)]).count == 2)
  }
}
