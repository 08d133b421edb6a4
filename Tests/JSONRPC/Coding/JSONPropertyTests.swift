import Testing

@testable import JSONRPC

/// The text, the encoding and the schema that follow from a type's properties.
struct JSONPropertyTests {
  enum Word: String, Codable, JSONTextRepresentable { case one, two }

  struct Leaf: RPCValue, JSONObjectRepresentable, Hashable {
    var first: String?
    var second: Int?

    static let properties: [JSONProperty<Leaf>] = [
      .optional("first", .string(), "the first") { $0.first },
      .optional("second", .integer(), "the second") { $0.second },
    ]
    static let jsonSchema = JSONSchema.object(properties)
  }

  struct Tree: RPCValue, JSONObjectRepresentable, Hashable {
    var leaf = Leaf()
    var leaves: [Leaf]?
    var table: [String: [Bool]] = [:]
    var free: JSON?
    var object: JSONObject = [:]
    var word: Word?

    static let properties: [JSONProperty<Tree>] = [
      .required("leaf", Leaf.jsonSchema, "a leaf") { $0.leaf },
      .optional("leaves", .array(Leaf.jsonSchema), "more") { $0.leaves },
      .required("table", .map(.array(.boolean)), "a table") { $0.table },
      .optional("free", .any, "any value") { $0.free },
      .required("object", .map(.any), "any object") { $0.object },
      .optional("word", .enumeration(["one", "two"]), "a word") { $0.word },
    ]
    static let jsonSchema = JSONSchema.object(properties)
  }

  @Test(
    "The text of a value is that of its tree",
    arguments: [
      (Tree(), #"{"leaf":{},"table":{},"object":{}}"#),
      (Tree(leaves: []), #"{"leaf":{},"leaves":[],"table":{},"object":{}}"#),
      (
        Tree(leaf: Leaf(second: -7), leaves: [Leaf(), Leaf(first: "", second: 0)], table: ["a\n": [true, false]]),
        #"{"leaf":{"second":-7},"leaves":[{},{"first":"","second":0}],"table":{"a\n":[true,false]},"object":{}}"#
      ),
      (
        Tree(leaf: Leaf(first: "a{"), free: [nil, ["x": 1.5]], object: ["k\"": "{"], word: .two),
        #"{"leaf":{"first":"a{"},"table":{},"free":[null,{"x":1.5}],"object":{"k\"":"{"},"word":"two"}"#
      ),
      (
        Tree(leaf: Leaf(first: "\u{0}\u{1F}\u{7F}é\u{1F600}\\/\t\""), table: ["": []]),
        "{\"leaf\":{\"first\":\"\\u0000\\u001f\u{7F}é\u{1F600}\\\\/\\t\\\"\"},\"table\":{\"\":[]},\"object\":{}}"
      ),
    ])
  func text(_ value: Tree, _ expected: String) throws {
    let text = try JSONWriter.bytes(encoding: value)
    #expect(String(decoding: text, as: UTF8.self) == expected)
    let tree = try JSONValueEncoder.encode(value)
    #expect(JSONWriter.text(of: tree) == expected)
    #expect(Tree.jsonSchema.violation(in: tree) == nil)
    #expect(try JSONValueDecoder.decode(Tree.self, from: tree) == value)
  }

  @Test func `A type without properties of its own is encoded as a tree`() throws {
    #expect(try JSONWriter.bytes(encoding: Empty()) == Array("{}".utf8))
    #expect(try JSONWriter.bytes(encoding: [1.5]) == Array("[1.5]".utf8))
  }

  enum Method: RPCMethod {
    typealias Params = Empty
    typealias Result = Tree
    static let name = "tree"
    static let summary = "A tree."
    static let documentation = "A tree."
  }

  @Test func `A member that has its text already is not encoded again`() throws {
    func text(_ name: String) throws -> String {
      String(
        decoding: try EncodedResult<Method>(Tree(word: .one), replacing: name, with: Array("[1]".utf8)).text,
        as: UTF8.self)
    }
    #expect(try text("leaf") == #"{"leaf":[1],"table":{},"object":{},"word":"one"}"#)
    #expect(try text("leaves") == #"{"leaf":{},"leaves":[1],"table":{},"object":{},"word":"one"}"#)
    #expect(try text("word") == #"{"leaf":{},"table":{},"object":{},"word":[1]}"#)
    #expect(throws: UnknownProperty(name: "leave")) { try text("leave") }
  }

  @Test(
    "A byte that must be escaped is found at each place of a text of any length",
    arguments: ["\"", "\\", "\u{0}", "\u{1F}", "\u{7F}", " ", "!", "#", "[", "]", "é", "\u{A2}", "\u{1F600}"])
  func escapes(_ special: String) throws {
    let isEscaped = ["\"", "\\", "\u{0}", "\u{1F}"].contains(special)
    for length in 0..<20 {
      for place in 0...length {
        let text = String(repeating: "a", count: place) + special + String(repeating: "é", count: length - place)
        var writer = JSONWriter()
        writer.write(string: text)
        #expect(try JSONParser.parse(writer.bytes) == .string(text))
        #expect(writer.bytes.contains(UInt8(ascii: "\\")) == isEscaped)
      }
    }
  }

  @Test func `A writer forgets what follows a length`() {
    var writer = JSONWriter()
    writer.write(string: "abc")
    writer.truncate(to: 9)
    #expect(writer.bytes == Array(#""abc""#.utf8))
    writer.truncate(to: 1)
    #expect(writer.bytes == Array("\"".utf8))
  }
}
