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
      let nearest = member.key.nearest(in: names.filter { object[$0] == nil })
      found.append(.unknown(path.appending(key: member.key), nearest: nearest))
    }
    for member in members {
      let memberPath = path.appending(key: member.name)
      if let inner = object[member.name] {
        found += member.schema.findings(in: inner, at: memberPath)
      } else if member.isRequired {
        found.append(.missing(memberPath))
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

  static func unknown(_ path: String, nearest: String?) -> SchemaFinding {
    let advice = nearest.map { "did you mean \($0)?" } ?? "leave it out."
    return SchemaFinding(path: path, message: "This key is not known; \(advice)", nearest: nearest)
  }

  static func missing(_ path: String) -> SchemaFinding {
    SchemaFinding(path: path, message: "This key is missing.")
  }

  static func wrong(_ path: String, _ expectation: String) -> SchemaFinding {
    // The schema uses terms of JSON, the file's author those of TOML.
    let words = expectation == "an object" ? "a table" : expectation
    return SchemaFinding(path: path, message: "This must be \(words).")
  }

  init(path: String, message: String, nearest: String? = nil) {
    self.path = path
    self.message = message
    self.nearest = nearest
  }

  init(_ violation: JSONSchemaViolation) {
    switch violation.problem {
    case .unknown(let nearest, _): self = .unknown(violation.member, nearest: nearest)
    case .missing: self = .missing(violation.member)
    case .wrong(let expected): self = .wrong(violation.member, expected)
    }
  }
}
