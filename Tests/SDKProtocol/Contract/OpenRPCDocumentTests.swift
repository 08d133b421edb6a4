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
    var seen: Set<String> = []
    walk(document) { object in
      if let reference = object["$ref"]?.stringValue { seen.insert(reference) }
    }
    #expect(seen == Set(schemas.keys.map { "#/components/schemas/\($0)" }))
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
      #expect(method["x-sdkd"]?["role"] != nil)
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
