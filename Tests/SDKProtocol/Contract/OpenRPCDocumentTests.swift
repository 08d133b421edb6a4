import JSONRPC
import SDKProtocol
import Testing

struct OpenRPCDocumentTests {
  private let document = OpenRPCDocument.make(
    methods: CommonMethods.all, notifications: CommonMethods.notifications)

  private func walk(_ json: JSON, _ visit: (JSONObject) -> Void) {
    switch json {
    case .object(let object):
      visit(object)
      for member in object.members { walk(member.value, visit) }
    case .array(let elements): for element in elements { walk(element, visit) }
    default: return
    }
  }

  @Test func `Every reference resolves, and every shape is referred to`() throws {
    let schemas = try #require(document["components"]?["schemas"]?.objectValue)
    let errors = try #require(document["components"]?["errors"]?.objectValue)
    var seen: Set<String> = []
    walk(document) { object in
      if let reference = object["$ref"]?.stringValue { seen.insert(reference) }
    }
    #expect(
      seen == Set(schemas.keys.map { "#/components/schemas/\($0)" } + errors.keys.map { "#/components/errors/\($0)" }))
  }

  @Test func `One name is one shape`() {
    var shapes: [String: JSON] = [:]
    for method in CommonMethods.all {
      for (name, schema) in method.named {
        #expect(shapes[name] == nil || shapes[name] == schema.document, "\(name)")
        shapes[name] = schema.document
      }
    }
    #expect(!shapes.isEmpty)
  }

  @Test func `Methods are sorted and have what OpenRPC asks for`() throws {
    #expect(document["openrpc"]?.stringValue?.hasPrefix("1.3") == true)
    #expect(document["info"]?["title"] == "sdkd")
    #expect(document["info"]?["version"] == .string(SDKVersion.api))
    let methods = try #require(document["methods"]?.arrayValue)
    #expect(methods.compactMap { $0["name"]?.stringValue } == CommonMethods.all.map { $0.name }.sorted())
    for method in methods {
      #expect(method["paramStructure"] == "by-name")
      #expect(method["result"]?["name"] == "result")
      #expect(method["result"]?["schema"] != nil)
      // A result has a name, so that a generator's type has one. That of rpc.discover is this document.
      #expect(method["result"]?["schema"]?["$ref"] != nil || method["name"] == "rpc.discover")
      #expect(method["x-sdkd"]?["role"] != nil)
      let tags = method["tags"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
      #expect(tags.first.map { method["name"]?.stringValue?.hasPrefix("\($0).") == true } == true, "\(tags)")
      #expect(Array(tags.dropFirst()) == [method["x-sdkd"]?["kind"]?.stringValue].compactMap { $0 })
      for parameter in method["params"]?.arrayValue ?? [] {
        #expect(parameter["name"]?.stringValue?.isEmpty == false)
        #expect(parameter["required"]?.boolValue != nil)
        #expect(parameter["schema"] != nil)
      }
    }
  }

  @Test func `Descriptions beside a reference stand where they count`() {
    walk(document) { object in #expect(object["$ref"] == nil || object.count == 1) }
  }

  @Test("Required params come before optional ones")
  func requiredParamsFirst() {
    for method in document["methods"]?.arrayValue ?? [] {
      let required = (method["params"]?.arrayValue ?? []).map { $0["required"] == true }
      #expect(required == required.sorted { $0 && !$1 }, "\(method["name"] ?? .null)")
    }
  }

  @Test("The event of each type has its own shape")
  func eventShapes() throws {
    let types = try #require(document["components"]?["schemas"]?["Event"]?["oneOf"]?.arrayValue)
    #expect(types.count == EventType.allCases.count)
    for type in EventType.allCases {
      let name = type.rawValue.prefix(1).uppercased() + type.rawValue.dropFirst() + "Event"
      let schema = document["components"]?["schemas"]?[name]?["properties"]
      #expect(schema?["type"]?["const"] == .string(type.rawValue))
      #expect(schema?["data"] != nil)
    }
  }

  @Test("Every enumeration with a name has a sentence for each of its values")
  func meanings() {
    var count = 0
    for (name, schema) in document["components"]?["schemas"]?.objectValue?.members.map({ ($0.key, $0.value) }) ?? [] {
      guard let words = schema["enum"]?.arrayValue else { continue }
      let meanings = (schema["x-enum-descriptions"]?.arrayValue ?? []).compactMap(\.stringValue)
      #expect(meanings.count == words.count && meanings.allSatisfy { $0.hasSuffix(".") }, "\(name)")
      count += 1
    }
    #expect(count > 10)
  }

  @Test func `The text is indented, ends with a newline and is the same document`() throws {
    let text = OpenRPCDocument.text(of: document)
    #expect(text.hasSuffix("}\n"))
    #expect(text.hasPrefix("{\n  \"openrpc\": "))
    #expect(try JSONParser.parse(text) == document)
  }
}

extension SDKMethod {
  fileprivate static var named: [String: JSONSchema] {
    Params.jsonSchema.namedSchemas.merging(Result.jsonSchema.namedSchemas) { first, _ in first }
  }
}
