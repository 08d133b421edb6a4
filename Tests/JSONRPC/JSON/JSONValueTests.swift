import Foundation
import Testing

@testable import JSONRPC

struct JSONValueTests {
  @Test(
    "An object of 20,000 members takes linear time: parsed, searched, changed, compared, hashed, merged, decoded, encoded",
    .timeLimit(.minutes(1)))
  func largeObjects() throws {
    let count = 20_000
    let text = "{" + (0..<count).map { "\"m\($0)\":\"v\"" }.joined(separator: ",") + "}"
    var object = try #require(try JSONParser.parse(text).objectValue)
    for number in stride(from: 0, to: count, by: 7) { #expect(object["m\(number)"] == "v") }
    #expect(object["m\(count)"] == nil)
    let reversed = JSONObject(object.members.reversed().map { ($0.key, $0.value) })
    #expect(object == reversed)
    #expect(object.hashValue == reversed.hashValue)
    let patch = JSONObject((0..<count).map { ("m\($0 + count / 2)", $0.isMultiple(of: 2) ? .null : "w") })
    let merged = object.merged(with: patch)
    #expect(merged.count == count)
    #expect(merged["m\(count / 2)"] == nil)
    #expect(merged["m\(count / 2 + 1)"] == "w")
    let decoded = try JSONValueDecoder.decode([String: String].self, from: .object(object))
    #expect(decoded.count == count)
    #expect(try JSONValueEncoder.encode(decoded).objectValue == object)
    #expect(try JSONValueEncoder.encode(Array(decoded.keys)).arrayValue?.count == count)
    object["m0"] = nil
    object["new"] = 1
    #expect(object["m1"] == "v")
    #expect(object.members.last?.key == "new")
  }

  @Test("Members are found by name while an object grows and shrinks", arguments: [3, 16, 17, 18, 40])
  func changedObjects(count: Int) {
    var object = JSONObject()
    for number in 0..<count { object["m\(number)"] = JSON(number) }
    object["m1"] = nil
    object["m2"] = "changed"
    #expect(object.keys == (0..<count).filter { $0 != 1 }.map { "m\($0)" })
    #expect(object["m1"] == nil)
    #expect(object["m2"] == "changed")
    for number in 3..<max(3, count) { #expect(object["m\(number)"] == JSON(number)) }
    for number in 0..<count { object["m\(number)"] = nil }
    #expect(object == JSONObject())
  }

  @Test("Names that are canonically equivalent pass other coders without a trap")
  func equivalentNamesEncode() throws {
    let object: JSON = ["\u{E9}": 1, "e\u{301}": 2]
    _ = try JSONEncoder().encode(object)
  }

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
