import JSONRPC

extension JSONSchema {
  /// Checks a value as `violation(in:at:)` does, but returns all mistakes, so that a file can be corrected at once.
  func findings(in value: JSON, at path: String = "") -> [SchemaFinding] {
    switch self {
    case .named(_, let schema): return schema.findings(in: value, at: path)
    case .object(let members):
      guard let object = value.objectValue else { return [.wrong(path, expectation)] }
      return Self.findings(in: object, members, path)
    case .array(let element):
      guard let elements = value.arrayValue else { return [.wrong(path, expectation)] }
      return elements.enumerated().flatMap { element.findings(in: $0.element, at: "\(path)[\($0.offset)]") }
    case .map(let element, let maximum):
      guard let object = value.objectValue, object.count <= maximum ?? .max else { return [.wrong(path, expectation)] }
      if let name = object.equivalentName { return [.wrong(path.appending(key: name), Self.anotherName)] }
      return object.members.flatMap { element.findings(in: $0.value, at: path.appending(key: $0.key)) }
    default: return violation(in: value, at: path).map { [SchemaFinding($0)] } ?? []
    }
  }

  private static func findings(in object: JSONObject, _ members: [JSONMember], _ path: String) -> [SchemaFinding] {
    var found: [SchemaFinding] = []
    let names = members.map(\.name)
    for member in object.members where !names.contains(member.key) {
      // A valid name that is also present is not the intended one.
      let absent = names.filter { object[$0] == nil }
      let nearest = member.key.nearest(in: absent)
      found.append(.unknown(path.appending(key: member.key), nearest: nearest, known: absent))
    }
    for member in members {
      let memberPath = path.appending(key: member.name)
      if let inner = object[member.name] {
        found += member.schema.findings(in: inner, at: memberPath)
      } else if member.isRequired {
        found.append(.missing(memberPath, member.schema.expectation))
      }
    }
    return found
  }
}

/// A mismatch between a value and its schema, worded for the author of the file.
struct SchemaFinding: Sendable, Hashable {
  /// The key's dotted path.
  var path: String
  /// The problem and its correction.
  var message: String
  /// The valid name nearest to an unknown one.
  var nearest: String?

  static func unknown(_ path: String, nearest: String?, known: [String]) -> SchemaFinding {
    let advice = JSONSchemaViolation.advice(nearest: nearest, known: known)
    return SchemaFinding(path: path, message: "This key is not known; \(advice)", nearest: nearest)
  }

  static func missing(_ path: String, _ expectation: String) -> SchemaFinding {
    SchemaFinding(path: path, message: "This key is missing; it takes \(words(expectation)).")
  }

  static func wrong(_ path: String, _ expectation: String) -> SchemaFinding {
    SchemaFinding(path: path, message: "This must be \(words(expectation)).")
  }

  /// Returns a description of valid values in terms of TOML: those of the schema are JSON's.
  private static func words(_ expectation: String) -> String { expectation == "an object" ? "a table" : expectation }
}

extension SchemaFinding {
  init(_ violation: JSONSchemaViolation) {
    switch violation.problem {
    case .unknown(let nearest, let known): self = .unknown(violation.member, nearest: nearest, known: known)
    case .missing(let expected, _): self = .missing(violation.member, expected)
    case .wrong(let expected): self = .wrong(violation.member, expected)
    }
  }
}
