import JSONRPC

/// Values of the contract's shapes, from the tested examples of its methods and questions.
struct ShapeExamples {
  /// The maximum depth of the search: the shapes of a document may contain themselves.
  private static let depth = 24

  private let schemas: JSON
  private var values: [String: JSON] = [:]

  /// Collects the values in the examples of an OpenRPC document.
  init(_ document: JSON) {
    schemas = document["components"]?["schemas"] ?? [:]
    for method in document["methods"]?.arrayValue ?? [] {
      let params = method["params"]?.arrayValue ?? []
      for example in method["examples"]?.arrayValue ?? [] {
        for given in example["params"]?.arrayValue ?? [] {
          add(given["value"], params.first { $0["name"] == given["name"] }?["schema"], Self.depth)
        }
        add(example["result"]?["value"], method["result"]?["schema"], Self.depth)
      }
    }
    let topics = ContractTopics(document: document)
    for question in document["x-requests"]?.arrayValue ?? [] {
      for example in question["examples"]?.arrayValue ?? [] {
        add(.object(topics.params(of: example)), question["params"], Self.depth)
        add(example["result"]?["value"], question["result"], Self.depth)
      }
    }
  }

  /// Returns the value of a shape with the most members; `nil` if no example has one.
  subscript(shape: String) -> JSON? { values[shape] }

  private mutating func add(_ value: JSON?, _ schema: JSON?, _ depth: Int) {
    guard let value, let schema, depth > 0 else { return }
    if let name = Topics.reference(schema) {
      let former = values[name]
      if former == nil || Self.size(value) > Self.size(former) { values[name] = value }
      return add(value, schemas[name], depth - 1)
    }
    for whole in schema["allOf"]?.arrayValue ?? [] { add(value, whole, depth - 1) }
    let choices = (schema["oneOf"] ?? schema["anyOf"])?.arrayValue ?? []
    add(value, choices.first { isValid(value, $0, depth - 1) }, depth - 1)
    for element in value.arrayValue ?? [] { add(element, schema["items"], depth - 1) }
    for member in value.objectValue?.members ?? [] {
      add(member.value, schema["properties"]?[member.key] ?? schema["additionalProperties"], depth - 1)
    }
  }

  private static func size(_ value: JSON?) -> Int { value?.objectValue?.count ?? 0 }

  /// Whether a value is of a schema, as far as the choices of a shape differ: by their types, words and members.
  private func isValid(_ value: JSON, _ schema: JSON, _ depth: Int) -> Bool {
    guard depth > 0 else { return false }
    if let name = Topics.reference(schema) { return schemas[name].map { isValid(value, $0, depth - 1) } ?? false }
    if let words = schema["enum"]?.arrayValue { return words.contains(value) }
    if let word = schema["const"] { return word == value }
    if let choices = (schema["oneOf"] ?? schema["anyOf"])?.arrayValue {
      return choices.contains { isValid(value, $0, depth - 1) }
    }
    if let parts = schema["allOf"]?.arrayValue { return parts.allSatisfy { isValid(value, $0, depth - 1) } }
    guard let members = schema["properties"]?.objectValue else { return Self.isOfType(schema["type"], value) }
    guard let object = value.objectValue else { return false }
    return object.members.allSatisfy { member in
      members[member.key].map { isValid(member.value, $0, depth - 1) } ?? (schema["additionalProperties"] != false)
    } && (schema["required"]?.arrayValue ?? []).allSatisfy { object[$0.stringValue ?? ""] != nil }
  }

  private static func isOfType(_ type: JSON?, _ value: JSON) -> Bool {
    switch (type?.stringValue, value) {
    case (nil, _), ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array), ("object", .object),
      ("number", .number), ("integer", .number):
      true
    default: false
    }
  }
}
