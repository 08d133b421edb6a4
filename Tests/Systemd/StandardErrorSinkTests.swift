import Glibc
import Logging
import Testing

@testable import Systemd

@Suite struct StandardErrorSinkTests {
  private func text(_ record: LogRecord, prefixed: Bool = false) -> String {
    let line = StandardErrorSink.line(record, prefixed: prefixed)
    return prefixed ? line : String(line.drop { $0 != " " }.dropFirst())
  }

  @Test func timestamps() {
    #expect(StandardErrorSink.timestamp((0, 0)) == "1970-01-01T00:00:00.000Z")
    #expect(StandardErrorSink.timestamp((1_795_258_800, 7_999_999)) == "2026-11-21T11:00:00.007Z")
    #expect(StandardErrorSink.timestamp((Int64.max, 0)) == "-")
  }

  @Test func humanLine() {
    let line = StandardErrorSink.line(record("logged in", metadata: ["instance": "front-desk"]), prefixed: false)
    #expect(line.hasSuffix("Z info instance=front-desk logged in"))
    #expect(line.prefix { $0 != "Z" }.utf8.count == "2026-11-21T11:00:00.000".utf8.count)
  }

  @Test func prefixedLine() {
    let line = text(record("no key", level: .error, metadata: ["b": "2", "a": "1", "messageID": "f"]), prefixed: true)
    #expect(line == "<3>a=1 b=2 no key")
  }

  @Test func oneCallIsOneLine() {
    let metadata: Logger.Metadata = ["k\ne=y": "v\r\n2026-11-21T11:00:00.000Z critical root", "e": ""]
    let line = text(record("one\ntwo\u{2028}three\u{1B}[31m\u{85}\u{202E}end\u{0}\\n\t", metadata: metadata))
    #expect(
      line
        == #"info e="" k_e_y="v\r\n2026-11-21T11:00:00.000Z critical root" one\ntwo\u{2028}three\u{1b}[31m\u{85}\u{202e}end\u{0}\\n\t"#
    )
  }

  @Test(arguments: [
    ("plain", "plain"), ("", #""""#), ("a b", #""a b""#), (#"a"b"#, #""a\"b""#), ("a=b", #""a=b""#),
    ("日本", "日本"), ("a\nb", #"a\nb"#), (#"\"#, #"\\"#),
  ])
  func values(value: String, expected: String) {
    #expect(LineText.value(value) == expected)
  }

  @Test func noLineBreakSurvivesAnything() {
    for value in (0..<0x3000 as Range<UInt32>) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let line = LineText.escaped(String(Character(scalar)))
      #expect(!line.contains { $0.isNewline })
      #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }

  @Test func writesWholeLines() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let sink = StandardErrorSink(prefixed: true, fileDescriptor: ends[1])
    #expect(sink.write(record("one")) && sink.write(record("two\n")))
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = read(ends[0], &buffer, buffer.count)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "<6>one\n<6>two\\n\n")
  }

  @Test func aClosedDescriptorLosesTheLine() {
    #expect(!StandardErrorSink(prefixed: false, fileDescriptor: -1).write(record("x")))
  }
}
