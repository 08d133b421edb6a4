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
    #expect(JSON.string(one) != JSON.string(other))
    #expect(JSON.object(["a": [.string(one)]]) != JSON.object(["a": [.string(other)]]))
    for (members, others) in [(["a": one], ["a": other]), ([one: "a"], [other: "a"])] {
      #expect(members == others)
      #expect(!members.includes(others))
      #expect(!members.hasSameBytes(as: others))
      #expect(members.hasSameBytes(as: members))
      #expect(UTF8Texts(wrappedValue: members) != UTF8Texts(wrappedValue: others))
    }
    let schema = JSONSchema.object([.optional(one, .any, "")])
    #expect(schema.violation(in: .object(JSONObject([(other, 1)])))?.member == other)
    #expect(schema.violation(in: .object(JSONObject([(one, 1)]))) == nil)
  }
}
