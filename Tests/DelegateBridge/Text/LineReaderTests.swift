import Testing

@testable import DelegateBridge

@Suite struct LineReaderTests {
  @Test func cutsLinesWhereverTheBytesAreCut() {
    let text = "one\ntwo\r\n\n  \nthree \u{1B}[31mred\u{7}\nlast"
    for size in 1...text.utf8.count {
      var reader = LineReader()
      var lines: [String] = []
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        lines += reader.take(bytes[start..<min(start + size, bytes.count)])
      }
      lines += reader.finish()
      #expect(lines == ["one", "two", "three [31mred", "last"])
    }
  }

  @Test func keepsFourKibibytesAndCountsTheRest() throws {
    var reader = LineReader()
    let line = Array("0123456 0123456\n".utf8)
    var lines: [String] = []
    for _ in 0..<1000 { lines += reader.take(line) }
    lines += reader.finish()
    #expect(lines.count == 4096 / 16 + 1)
    #expect(lines.last == "… and \(16_000 - 4096) bytes more, which are not kept")
  }

  @Test func cutSecretIsNotShown() {
    var reader = LineReader()
    let filler = String(repeating: "a ", count: 2040)
    var lines = reader.take(Array((filler + "eyJhbGciOiJIUzI1NiJ9.payload.signature").utf8))
    lines += reader.finish()
    #expect(!lines.joined().contains("eyJ"))
    #expect(!lines.joined().contains("hbGci"))
  }

  @Test func brokenUTF8IsReplaced() {
    var reader = LineReader()
    #expect(reader.take([0x61, 0xFF, 0x62, 0x0A]) == ["a\u{FFFD}b"])
  }
}
