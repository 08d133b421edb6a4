import JSONRPC
import SDKProtocol
import Testing

struct InstanceIDTests {
  @Test(arguments: ["a", "0", "front-desk", "a.b_c-d", "0..", "a" + String(repeating: "z", count: 63)])
  func `A name of the grammar is taken`(name: String) throws {
    let id = try #require(InstanceID(name))
    #expect(id.name == name)
    #expect("\(id)" == name)
    #expect(try JSONValueDecoder.decode(InstanceID.self, from: try JSONValueEncoder.encode(id)) == id)
  }

  @Test(arguments: [
    "", ".", "-a", "_a", "..", "A", "aB", "a b", "a/b", "../a", "a\n", "a\u{0}", "é", "a\u{301}", "ａ", "a:b",
    "a" + String(repeating: "z", count: 64),
  ])
  func `Any other is refused`(name: String) {
    #expect(InstanceID(name) == nil)
    #expect(throws: DecodingError.self) { try JSONValueDecoder.decode(InstanceID.self, from: .string(name)) }
  }

  @Test func `Ids are in the order of their bytes`() {
    let ids = ["b", "a", "a-b", "a.b", "a0", "0"].compactMap { InstanceID($0) }
    #expect(ids.sorted().map(\.name) == ["0", "a", "a-b", "a.b", "a0", "b"])
  }
}
