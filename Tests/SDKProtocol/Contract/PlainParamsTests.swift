import JSONRPC
import SDKProtocol
import Testing

@Suite("Params of token.get without their schema")
struct PlainParamsTests {
  /// The members, each with the values that are read without the schema, and with others.
  private static let members: [(name: String, plain: [JSON], other: [JSON])] = [
    ("instance", ["desk"], ["Desk", "", 1, .null]), ("http", [true, false], ["true", .null]),
    ("minTTL", [0, 30, 1.5], [-1, "30s", "soon", .null, .number(JSONNumber(1e300))]),
    ("timeout", [5], ["5m", -0.5, [], .null]), ("service", ["chat", ""], [1, .null]), ("htpp", [], [true]),
  ]

  @Test("Whatever is read is what decoding gives, and plain params are read")
  func agreesWithDecoding() throws {
    var objects: [JSONObject] = [JSONObject()]
    for (name, plain, other) in Self.members {
      objects += objects.flatMap { object in
        (plain + other).map { value in
          var next = object
          next[name] = value
          return next
        }
      }
    }
    var read = 0
    for object in objects {
      guard let plain = TokenGet.Params(plain: .object(object)) else { continue }
      read += 1
      let decoded = try TokenGet.decode(.object(object))
      #expect(try JSONValueEncoder.encode(plain) == JSONValueEncoder.encode(decoded))
    }
    // Each member but the instance may be missing.
    #expect(read == Self.members.map { $0.name == "instance" ? $0.plain.count : $0.plain.count + 1 }.reduce(1, *))
    #expect(TokenGet.Params(plain: ["desk"]) == nil)
    let params = TokenGet.Params.jsonSchema.members ?? []
    #expect(Set(params.map(\.name)) == Set(Self.members.map(\.name)).subtracting(["htpp"]), "the table has all params")
  }
}
