import JSONRPC
import Testing

struct ByteOrderMarkTests {
  @Test("A byte order mark before a JSON text is skipped, once and only there")
  func json() throws {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    #expect(try JSONParser.parse(mark + Array(#" {"a": 1}"#.utf8)) == ["a": 1])
    _ = try RPCFrame((mark + Array(#"{"jsonrpc":"2.0","method":"a"}"#.utf8))[...])
    for bytes in [mark, mark + mark + [0x31], [0x20] + mark + [0x31], [0x31] + mark] {
      #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(bytes) }
    }
  }

  @Test("UTF-16 is named")
  func utf16() {
    for bytes in [[0xFF, 0xFE, 0x31, 0x00], [0xFE, 0xFF, 0x00, 0x31]] as [[UInt8]] {
      let error = #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(bytes) }
      #expect(error?.problem == "the text is UTF-16; save it as UTF-8")
    }
  }
}
