/// Conformance for coders other than `JSONValueEncoder` and `JSONValueDecoder`, such as those of Foundation. With them
/// numbers lose their spelling.
extension JSON: Codable {
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? ValueDecoder {
      self = decoder.json
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let int = try? container.decode(Int.self) {
      self = JSON(int)
    } else if let double = try? container.decode(Double.self) {
      self = JSON(double)
    } else if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let array = try? container.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(JSONObject(try container.decode([String: JSON].self).sorted { $0.key < $1.key }.map { $0 }))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    if case .object(let object) = self {
      // Not encoded as a dictionary, which would merge names that are canonically equivalent.
      var container = encoder.container(keyedBy: IndexKey.self)
      for member in object.members { try container.encode(member.value, forKey: IndexKey(stringValue: member.key)) }
      return
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let bool): try container.encode(bool)
    case .number(let number):
      if let int = Int(number.text) { try container.encode(int) } else { try container.encode(number.double) }
    case .string(let string): try container.encode(string)
    case .array(let array): try container.encode(array)
    case .object: break
    }
  }
}

extension JSONObject: Codable {
  public init(from decoder: any Decoder) throws {
    let json = try JSON(from: decoder)
    guard let object = json.objectValue else {
      throw DecodingError.typeMismatch(
        JSONObject.self,
        .init(codingPath: decoder.codingPath, debugDescription: "a \(json.typeName) can't be an object"))
    }
    self = object
  }

  public func encode(to encoder: any Encoder) throws { try JSON.object(self).encode(to: encoder) }
}

extension JSON: JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.any
}
