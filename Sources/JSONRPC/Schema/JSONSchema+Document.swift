extension JSONSchema {
  /// This shape as a JSON Schema (draft 7); named shapes become references.
  public var document: JSON {
    switch self {
    case .any: return .object(JSONObject())
    case .null: return ["type": "null"]
    case .boolean: return ["type": "boolean"]
    case .integer(let minimum, let maximum):
      var object: JSONObject = ["type": "integer"]
      if let minimum { object["minimum"] = JSON(minimum) }
      if let maximum { object["maximum"] = JSON(maximum) }
      return .object(object)
    case .number: return ["type": "number"]
    case .string(let format, let pattern, let called):
      var object: JSONObject = ["type": "string"]
      if let called { object["description"] = .string(called) }
      if let format { object["format"] = .string(format) }
      if let pattern { object["pattern"] = .string(pattern) }
      return .object(object)
    case .enumeration(let words, let meanings):
      var object: JSONObject = ["type": "string", "enum": .array(words.map(JSON.string))]
      // Generators read `enum`. Few of them read a `oneOf` of constants with descriptions.
      if !meanings.isEmpty { object["x-enum-descriptions"] = .array(meanings.map(JSON.string)) }
      return .object(object)
    case .constant(let word): return ["type": "string", "const": .string(word)]
    case .array(let element): return ["type": "array", "items": element.document]
    case .map(let element, let maximum):
      var object: JSONObject = ["type": "object", "additionalProperties": element.document]
      if let maximum { object["maxProperties"] = JSON(maximum) }
      return .object(object)
    case .object(let members): return Self.document(of: members)
    case .oneOf(let schemas, let discriminator):
      var object: JSONObject = ["oneOf": .array(schemas.map(\.document))]
      if let discriminator { object["discriminator"] = ["propertyName": .string(discriminator)] }
      return .object(object)
    case .named(let name, _): return ["$ref": .string("#/components/schemas/\(name)")]
    }
  }

  private static func document(of members: [JSONMember]) -> JSON {
    var properties = JSONObject()
    for member in members {
      var property = member.schema.document.objectValue ?? JSONObject()
      // JSON Schema draft 7 ignores the siblings of a reference.
      if property["$ref"] != nil { property = ["allOf": .array([.object(property)])] }
      property["description"] = .string(member.summary)
      properties[member.name] = .object(property)
    }
    var object: JSONObject = ["type": "object", "properties": .object(properties)]
    let required = members.filter(\.isRequired).map { JSON.string($0.name) }
    if !required.isEmpty { object["required"] = .array(required) }
    object["additionalProperties"] = false
    return .object(object)
  }

  /// The named shapes by name: this one, if it has a name, and those within it.
  public var namedSchemas: [String: JSONSchema] {
    var found: [String: JSONSchema] = [:]
    collect(into: &found)
    return found
  }

  private func collect(into found: inout [String: JSONSchema]) {
    switch self {
    case .named(let name, let schema):
      guard found[name] == nil else { return }
      found[name] = schema
      schema.collect(into: &found)
    case .array(let schema), .map(let schema, _): schema.collect(into: &found)
    case .object(let members): for member in members { member.schema.collect(into: &found) }
    case .oneOf(let schemas, _): for schema in schemas { schema.collect(into: &found) }
    default: return
    }
  }
}
