import JSONRPC
import SDKProtocol
import Testing

struct SecondsTests {
  @Test(arguments: [
    ("10s", 10.0), ("5m", 300), ("2h", 7200), ("1d", 86_400), ("250ms", 0.25), ("10", 10), ("1.5s", 1.5), ("0", 0),
    ("0s", 0),
  ])
  func `A text says a length`(text: String, seconds: Double) throws {
    #expect(Seconds(text: text)?.value == seconds)
    #expect(try JSONValueDecoder.decode(Seconds.self, from: .string(text)).value == seconds)
  }

  @Test(arguments: [
    "", "s", "ms", "-1s", "+1s", "1 s", " 1s", "1s ", "1x", "1S", "nan", "inf", "infinity", "0x10", "1e3s", "1e3",
    "5m10s",
    "40000d", "0x1p3", "1..2s", ".",
  ])
  func `Another text does not`(text: String) {
    #expect(Seconds(text: text) == nil)
    #expect(throws: DecodingError.self) { try JSONValueDecoder.decode(Seconds.self, from: .string(text)) }
  }

  @Test func `A number is seconds, in bounds`() throws {
    #expect(try JSONValueDecoder.decode(Seconds.self, from: 2.5).value == 2.5)
    #expect(try JSONValueEncoder.encode(Seconds(literal: 90)) == 90)
    #expect(Seconds(-0.001) == nil)
    #expect(Seconds(.nan) == nil)
    #expect(Seconds(.infinity) == nil)
    #expect(Seconds(3_155_760_001) == nil)
    #expect(Seconds(3_155_760_000)?.duration == .seconds(3_155_760_000))
    #expect(Seconds(literal: 1) < Seconds(literal: 2))
    #expect(throws: DecodingError.self) { try JSONValueDecoder.decode(Seconds.self, from: true) }
  }
}
