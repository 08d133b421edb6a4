import JSONRPC
import SDKProtocol
import Testing

@Suite("Params of token.get without their schema")
struct PlainParamsTests {
  private static let members: [(String, [JSON])] = [
    ("instance", ["desk", "Desk", "", 1, .null]), ("http", [true, false, "true", .null]),
    ("minTTL", [0, 30, 1.5, -1, "30s", "soon", .null, .number(JSONNumber(1e300))]),
    ("timeout", [5, "5m", -0.5, [], .null]), ("service", ["chat", "", .null]), ("htpp", [true]),
  ]

  @Test("Whatever is read is what decoding gives, and plain params are read")
  func agreesWithDecoding() throws {
    var objects: [JSONObject] = [JSONObject()]
    for (name, values) in Self.members {
      objects += objects.flatMap { object in
        values.map { value in
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
    // instance; http: 2 values or none; minTTL: 3 or none; timeout: 1 or none
    #expect(read == 3 * 4 * 2)
    #expect(TokenGet.Params(plain: ["desk"]) == nil)
  }
}
