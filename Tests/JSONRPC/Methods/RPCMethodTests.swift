import JSONRPC
import Testing

struct RPCMethodTests {
  enum Add: RPCMethod {
    static let name = "math.add"
    static let summary = "Adds."
    static let documentation = "Adds two numbers."
    struct Params: RPCValue {
      var a: Int
      var b: Int?
      var even: Even?
      static let jsonSchema = JSONSchema.object([
        .required("a", .integer(), "one"), .optional("b", .integer(), "other"), .optional("even", .integer(), "even"),
      ])
    }
    struct Result: RPCValue {
      var sum: Int
      static let jsonSchema = JSONSchema.object([.required("sum", .integer(), "the sum")])
    }
  }

  struct Even: Codable, Sendable {
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      guard try container.decode(Int.self) % 2 == 0 else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "An even number is expected.")
      }
    }
    func encode(to encoder: any Encoder) throws {}
  }

  private func error(_ text: String) throws -> RPCError {
    let json = try JSONParser.parse(text)
    return try #require(throws: RPCError.self) { _ = try Add.decode(json) }
  }

  @Test func `Params are decoded`() throws {
    #expect(try Add.decode(["a": 1, "b": 2]).b == 2)
    #expect(try Add.decode(["a": 1, "b": nil]).b == nil)
    #expect(try Add.decode(["a": 1.0]).a == 1)
  }

  @Test func `No params and an empty object are the same`() throws {
    let none = #expect(throws: RPCError.self) { _ = try Add.decode(nil) }
    #expect(none == (try error("{}")))
    #expect(none?.data["member"] == "a")
  }

  @Test func `An array is refused`() throws {
    let refused = try error("[1,2]")
    #expect(refused.code == -32602)
    #expect(refused.message.contains("by name"))
  }

  @Test func `An unknown member comes with the nearest known one`() throws {
    let refused = try error(#"{"a":1,"evn":2}"#)
    #expect(refused.code == -32602)
    #expect(refused.data["member"] == "evn")
    #expect(refused.data["hints"] == ["nearest: even"])
  }

  @Test func `What the type itself refuses is named too`() throws {
    let refused = try error(#"{"a":1,"even":3}"#)
    #expect(refused.data["member"] == "even")
    #expect(refused.message == "An even number is expected.")
  }

  @Test func `A router runs or refuses`() async throws {
    var router = Router<Int, Int>()
    router.register(Add.self, about: \.a) { params, context in
      Add.Result(sum: params.a + (params.b ?? 0) + context)
    }
    let route = try #require(router["math.add"])
    #expect(router["math.sub"] == nil)
    #expect(router.names == ["math.add"])
    #expect(try route.read(["a": 7]).subject == 7)
    let answer = try await route.read(["a": 1, "b": 2]).run(4)
    #expect(String(decoding: answer, as: UTF8.self) == #"{"sum":7}"#)
    #expect(throws: RPCError.self) { try route.read(["c": 1]) }
  }

  @Test func `A catalog knows its methods by name`() {
    let catalog = MethodCatalog([Add.self, Add.self])
    #expect(catalog.names == ["math.add"])
    #expect(catalog["math.add"] != nil)
    #expect(catalog["nothing"] == nil)
    #expect(catalog.methods.count == 1)
  }
}
