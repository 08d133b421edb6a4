import Testing

@testable import JSONRPC

struct JSONValueTests {
  @Test func `The writer is compact, escapes control characters and nothing else`() {
    #expect(JSONWriter.text(of: ["a": [1, 1.5, nil, true, "x"], "b": [:]]) == #"{"a":[1,1.5,null,true,"x"],"b":{}}"#)
    #expect(
      JSONWriter.text(of: "\u{0}\u{1F}\"\\/\n\r\t\u{8}\u{C}\u{7F}é\u{2028}")
        == "\"\\u0000\\u001f\\\"\\\\/\\n\\r\\t\\b\\f\u{7F}é\u{2028}\"")
    #expect(JSONWriter.text(of: ["a\nb": 1]) == #"{"a\nb":1}"#)
  }

  @Test func `Doubles without a fraction are written as integers, the unsayable as null`() {
    #expect(JSONWriter.text(of: JSON(3.0)) == "3")
    #expect(JSONWriter.text(of: JSON(-2.5)) == "-2.5")
    #expect(JSON(Double.infinity) == .null)
    #expect(JSON(Double.nan) == .null)
    #expect(JSONNumber(Double.infinity).text == "0")
    #expect(JSON(1e300).doubleValue == 1e300)
  }

  @Test(arguments: [
    ("1", 1), ("1.0", 1), ("1e3", 1000), ("-0", 0), ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min),
    ("1.5", nil), ("9223372036854775808", nil), ("1e400", nil), ("1e-1", nil as Int?),
  ])
  func `A number is an integer when it says one`(text: String, expected: Int?) throws {
    #expect(try JSONParser.parse(text).intValue == expected)
  }

  @Test func `Objects keep their order, replace and remove`() {
    var object: JSONObject = ["b": 1, "a": 2]
    object["c"] = 3
    object["b"] = 4
    #expect(object.keys == ["b", "a", "c"])
    object["a"] = nil
    object["missing"] = nil
    #expect(object.keys == ["b", "c"])
    #expect(JSONObject([("x", 1), ("x", 2)]) == ["x": 2])
  }

  @Test func `Objects are equal in whatever order, and hash so`() {
    let one: JSONObject = ["a": 1, "b": [2]]
    let other: JSONObject = ["b": [2], "a": 1]
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one != ["a": 1])
    #expect(one != ["a": 1, "c": [2]])
  }

  @Test func `A merge patch is RFC 7396's`() throws {
    func merged(_ target: String, _ patch: String) throws -> JSON {
      let object = try #require(try JSONParser.parse(target).objectValue)
      return .object(object.merged(with: try #require(try JSONParser.parse(patch).objectValue)))
    }
    #expect(try merged(#"{"a":"b"}"#, #"{"a":"c"}"#) == ["a": "c"])
    #expect(try merged(#"{"a":"b"}"#, #"{"b":"c"}"#) == ["a": "b", "b": "c"])
    #expect(try merged(#"{"a":"b","b":"c"}"#, #"{"a":null}"#) == ["b": "c"])
    #expect(try merged(#"{"a":["b"]}"#, #"{"a":"c"}"#) == ["a": "c"])
    #expect(try merged(#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#) == ["a": ["b": "d"]])
    #expect(try merged(#"{"a":"text"}"#, #"{"a":{"b":{"c":null}}}"#) == ["a": ["b": [:]]])
    #expect(try merged(#"{"e":null}"#, #"{"a":1}"#) == ["e": nil, "a": 1])
  }
}
