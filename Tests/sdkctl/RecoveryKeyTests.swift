import Testing

@testable import sdkctl

@Suite struct RecoveryKeyTests {
  @Test func isReadAsItWasWritten() throws {
    for _ in 0..<50 {
      let key = RecoveryKey()
      let text = key.text
      #expect(text.count == 69 && text.split(separator: "-").allSatisfy { $0.count == 4 })
      #expect(RecoveryKey(text: Array(text.utf8)) == key)
      let careless = " " + text.lowercased().replacing("-", with: " ").replacing("o", with: "0") + "\n"
      #expect(RecoveryKey(text: Array(careless.utf8)) == key)
    }
  }

  @Test func seesASlip() throws {
    let key = try #require(RecoveryKey(bytes: Array(0..<32)))
    let text = Array(key.text.utf8)
    var seen = 0
    for index in text.indices where text[index] != UInt8(ascii: "-") {
      var slip = text
      slip[index] = text[index] == UInt8(ascii: "A") ? UInt8(ascii: "C") : UInt8(ascii: "A")
      #expect(RecoveryKey(text: slip) == nil)
      seen += 1
    }
    #expect(seen == 56)
    for text in ["", "AAAA", key.text + "A", String(key.text.dropLast()), key.text + "-" + key.text, "ä"] {
      #expect(RecoveryKey(text: Array(text.utf8)) == nil)
    }
    #expect(RecoveryKey(bytes: []) == nil)
  }
}
