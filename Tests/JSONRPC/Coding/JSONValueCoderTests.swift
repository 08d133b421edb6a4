import JSONRPC
import Testing

struct JSONValueCoderTests {
  struct Scalars: Codable, Equatable {
    var bool = true
    var string = "a\"\n"
    var double = 1.25
    var float: Float = 0.1
    var int = Int.min
    var int8 = Int8.min
    var int16 = Int16.max
    var int32 = Int32.min
    var int64 = Int64.max
    var uint = UInt.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var present: Int? = 3
    var absent: Int?
  }

  enum Word: String, Codable { case one, two }

  struct Nested: Codable, Equatable {
    var scalars = Scalars()
    var words: [Word] = [.one, .two]
    var optionals: [Int?] = [1, nil, 3]
    var table: [String: [Double]] = ["a": [1, 2.5], "b": []]
    var free: JSON = ["x": [1.5, nil, "y"]]
    var object: JSONObject = ["k": true]
    var word: Word?
  }

  private func roundTrip<T: Codable & Equatable>(_ value: T) throws {
    let json = try JSONValueEncoder.encode(value)
    #expect(try JSONValueDecoder.decode(T.self, from: json) == value)
    let text = JSONWriter.bytes(of: json)
    #expect(try JSONValueDecoder.decode(T.self, from: try JSONParser.parse(text)) == value)
  }

  @Test func `Values make the round trip`() throws {
    try roundTrip(Scalars())
    try roundTrip(Nested())
    try roundTrip([Nested(), Nested(word: .two)])
    try roundTrip([Int]())
    try roundTrip("text")
    try roundTrip(Int?.none)
    try roundTrip([["a": JSON.null]])
  }

  @Test func `Absent optionals are left out`() throws {
    let json = try JSONValueEncoder.encode(Scalars())
    #expect(json["present"] == 3)
    #expect(json["absent"] == nil)
    #expect(json["uint64"] == .number(try #require(JSONParser.parse("18446744073709551615").numberValue)))
  }

  @Test func `A type without members is an object`() throws {
    #expect(try JSONValueEncoder.encode(Empty()) == [:])
    _ = try JSONValueDecoder.decode(Empty.self, from: [:])
  }

  @Test func `JSON inside a type keeps the spelling of numbers`() throws {
    let json = try JSONParser.parse(#"{"scalars":null,"free":1.50}"#)
    struct Free: Codable, Equatable { var free: JSON }
    let decoded = try JSONValueDecoder.decode(Free.self, from: json)
    #expect(JSONWriter.text(of: try JSONValueEncoder.encode(decoded)) == #"{"free":1.50}"#)
  }

  @Test("JSON and objects are decoded as they are, at the top and within")
  func plainJSON() throws {
    let json = try JSONParser.parse(#"{"b":1.50,"a":[null,{"c":1e2}]}"#)
    #expect(JSONWriter.text(of: try JSONValueDecoder.decode(JSON.self, from: json)) == JSONWriter.text(of: json))
    #expect(try JSONValueDecoder.decode(JSONObject.self, from: json).keys == ["b", "a"])
    let list = try JSONValueDecoder.decode([String: JSON].self, from: json)["a"]
    #expect(list.map(JSONWriter.text(of:)) == #"[null,{"c":1e2}]"#)
    #expect(try JSONValueDecoder.decode([JSONObject].self, from: [["x": 1], [:]]) == [["x": 1], [:]])
    let error = #expect(throws: DecodingError.self) {
      try JSONValueDecoder.decode([String: JSONObject].self, from: ["a": [:], "b": "x"])
    }
    guard case .typeMismatch(_, let context)? = error else {
      Issue.record("another error")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["b"])
    #expect(context.debugDescription == "a string can't be an object")
  }

  @Test(arguments: [
    (#"{"a":256}"#, "a"), (#"{"a":-1}"#, "a"), (#"{"a":1.5}"#, "a"), (#"{"a":"1"}"#, "a"), (#"{"a":null}"#, "a"),
    (#"{"a":true}"#, "a"), (#"{"a":1e400}"#, "a"), ("{}", ""),
  ])
  func `A number that does not fit is refused with its place`(text: String, place: String) throws {
    struct Small: Codable { var a: UInt8 }
    let json = try JSONParser.parse(text)
    let error = #expect(throws: DecodingError.self) { try JSONValueDecoder.decode(Small.self, from: json) }
    switch try #require(error) {
    case .typeMismatch(_, let context), .dataCorrupted(let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context):
      #expect(context.codingPath.map(\.stringValue).joined() == place)
    @unknown default: Issue.record("an unknown error")
    }
  }

  @Test func `Elements are named by their index`() throws {
    let json: JSON = ["list": [1, "x"]]
    let error = #expect(throws: DecodingError.self) {
      try JSONValueDecoder.decode([String: [Int]].self, from: json)
    }
    guard case .typeMismatch(_, let context)? = error else {
      Issue.record("another error")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["list", "1"])
  }

  @Test func `Containers by hand work like those of the compiler`() throws {
    struct Hand: Codable, Equatable {
      var x = 1
      var list = [2, 3]
      init() {}
      enum Keys: String, CodingKey { case inner, list, x }
      init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        x = try outer.nestedContainer(keyedBy: Keys.self, forKey: .inner).decode(Int.self, forKey: .x)
        var elements = try outer.nestedUnkeyedContainer(forKey: .list)
        list = []
        while !elements.isAtEnd { list.append(try elements.decode(Int.self)) }
        #expect(elements.count == list.count)
        #expect(throws: DecodingError.self) { try elements.decode(Int.self) }
      }
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Keys.self)
        var inner = outer.nestedContainer(keyedBy: Keys.self, forKey: .inner)
        try inner.encode(x, forKey: .x)
        var elements = outer.nestedUnkeyedContainer(forKey: .list)
        for element in list { try elements.encode(element) }
      }
    }
    let json = try JSONValueEncoder.encode(Hand())
    #expect(json == ["inner": ["x": 1], "list": [2, 3]])
    #expect(try JSONValueDecoder.decode(Hand.self, from: json) == Hand())
  }
}

extension JSON {
  fileprivate var numberValue: JSONNumber? { if case .number(let number) = self { number } else { nil } }
}
