import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

struct BodyTests {
  @Test(arguments: ["{\"a\":[1,-2.5,true,false,null,\"x/\u{e9}\"],\"b\":{}}", "[]", "\"x\"", "0", "true"])
  func `What is read is written again`(text: String) {
    #expect(JSON(parsing: Data(text.utf8)).map { String(decoding: $0.encoded, as: UTF8.self) } == text)
  }

  @Test func `True is not 1`() {
    #expect(JSON(parsing: Data("[1,true]".utf8)) == [.number(1), .bool(true)])
  }

  @Test func `What is no JSON is nothing`() {
    let deep = String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)
    for text in ["", "{", "nul", "{\"a\":}", deep, "\u{0}"] {
      #expect(JSON(parsing: Data(text.utf8)) == nil, "\(text.prefix(10))")
    }
    #expect(JSON(parsing: Data([0xff, 0xfe])) == nil)
  }
}
