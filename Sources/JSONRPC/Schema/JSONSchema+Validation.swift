/// The first violation of a shape by a value, and the member in which it was found.
public struct JSONSchemaViolation: Error, Sendable, Hashable {
  /// The kind of a violation.
  public enum Problem: Sendable, Hashable {
    /// A member that the shape does not have; with the nearest known name, if one is near, and all known names.
    case unknown(nearest: String?, known: [String])
    /// A required member that is absent, a description of its values, and the others that are absent too.
    case missing(expected: String, others: [Absent])
    /// A value of another type or outside its bounds.
    case wrong(expected: String)
  }

  /// A required member that is absent: its path, and a description of its values.
  public struct Absent: Sendable, Hashable {
    /// The member's path.
    public let member: String
    /// A description of the values that it takes.
    public let expected: String
  }

  /// The member's path, such as `access.use[0]`; empty for the whole value.
  public let member: String
  /// The kind of the violation.
  public let problem: Problem

  /// The maximum number of known names in a sentence.
  private static let names = 16

  /// Returns the advice about an unknown name: the nearest known one, else the known ones.
  public static func advice(nearest: String?, known: [String]) -> String {
    if let nearest { return "did you mean \(nearest)?" }
    if known.isEmpty { return "leave it out." }
    return "known are \(known.prefix(names).joined(separator: ", "))" + (known.count > names ? ", …" : ".")
  }

  /// The violation as a sentence that says what to do.
  public var sentence: String {
    switch problem {
    case .unknown(let nearest, let known):
      "The member \(member) is not known; \(Self.advice(nearest: nearest, known: known))"
    case .missing(let expected, []): "The member \(member) is missing; it takes \(expected)."
    case .missing(let expected, let others):
      "These members are missing: "
        + ([Absent(member: member, expected: expected)] + others)
        .map { "\($0.member), \($0.expected)" }.joined(separator: "; ") + "."
    case .wrong(let expected):
      member.isEmpty ? "\(expected.capitalizedFirst) is expected." : "The member \(member) must be \(expected)."
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension JSONSchema {
  /// Checks a value. In each object unknown members come first, then the declared members in their order.
  ///
  /// - Returns: the first violation, or `nil` if the value has this shape.
  public func violation(in value: JSON, at path: String = "") -> JSONSchemaViolation? {
    switch self {
    case .any: return nil
    case .named(_, let schema): return schema.violation(in: value, at: path)
    case .object(let members): return objectViolation(value, members, path)
    case .array(let element):
      guard let elements = value.arrayValue else { return wrong(path) }
      for (index, item) in elements.enumerated() {
        if let found = element.violation(in: item, at: "\(path)[\(index)]") { return found }
      }
      return nil
    case .map(let element, let maximum):
      guard let object = value.objectValue, object.count <= maximum ?? .max else { return wrong(path) }
      if let name = object.equivalentName {
        let path = Self.join(path, name.clipped(toUTF8: 64))
        return JSONSchemaViolation(member: path, problem: .wrong(expected: Self.anotherName))
      }
      for member in object.members {
        let path = Self.join(path, member.key.clipped(toUTF8: 64))
        if let found = element.violation(in: member.value, at: path) { return found }
      }
      return nil
    case .oneOf(let schemas, _):
      let violations = schemas.map { $0.violation(in: value, at: path) }
      if violations.contains(where: { $0 == nil }) { return nil }
      // The peer most likely meant the shape of the same type, so only its violation helps.
      return zip(schemas, violations).first { $0.0.accepts(typeOf: value) }?.1 ?? wrong(path)
    default: return accepts(scalar: value) ? nil : wrong(path)
    }
  }

  /// A description of valid names in a map, after "must be". Values with equivalent names would become one.
  public static let anotherName =
    "named differently: another member has this name, with its characters composed in another way"

  private func objectViolation(_ value: JSON, _ members: [JSONMember], _ path: String) -> JSONSchemaViolation? {
    guard let object = value.objectValue else { return wrong(path) }
    for member in object.members where !members.contains(where: { $0.name.hasSameBytes(as: member.key) }) {
      let name = member.key.clipped(toUTF8: 64)
      let known = members.map(\.name)
      return JSONSchemaViolation(
        member: Self.join(path, name), problem: .unknown(nearest: name.nearest(in: known), known: known))
    }
    for (index, member) in members.enumerated() {
      let memberPath = Self.join(path, member.name)
      guard let inner = object[member.name] else {
        guard member.isRequired else { continue }
        let others = members[(index + 1)...].filter { $0.isRequired && object[$0.name] == nil }
        return JSONSchemaViolation(
          member: memberPath,
          problem: .missing(
            expected: member.schema.expectation,
            others: others.map { .init(member: Self.join(path, $0.name), expected: $0.schema.expectation) }))
      }
      if !member.isRequired, inner.isNull { continue }
      if let found = member.schema.violation(in: inner, at: memberPath) { return found }
    }
    return nil
  }

  private func accepts(scalar value: JSON) -> Bool {
    switch (self, value) {
    case (.null, .null), (.boolean, .bool), (.number, .number), (.string, .string): true
    case (.enumeration(let words, _), .string(let word)): words.contains(word)
    case (.constant(let word), .string(let other)): word == other
    case (.integer(let minimum, let maximum), .number(let number)):
      number.integer.map { $0 >= minimum ?? .min && $0 <= maximum ?? .max } ?? false
    default: false
    }
  }

  private func accepts(typeOf value: JSON) -> Bool {
    switch (self, value) {
    case (.named(_, let schema), _): schema.accepts(typeOf: value)
    case (.object, .object), (.map, .object), (.array, .array), (.enumeration, .string), (.constant, .string): true
    default: accepts(scalar: value)
    }
  }

  private func wrong(_ path: String) -> JSONSchemaViolation {
    JSONSchemaViolation(member: path, problem: .wrong(expected: expectation))
  }

  /// A description of valid values that fits after "must be".
  public var expectation: String {
    switch self {
    case .any: "any value"
    case .null: "null"
    case .boolean: "true or false"
    case .integer(let minimum?, let maximum?): "a whole number from \(minimum) to \(maximum)"
    case .integer(let minimum?, nil): "a whole number of at least \(minimum)"
    case .integer: "a whole number"
    case .number: "a number"
    case .string(_, _, let called?): "a string (\(called))"
    case .string(let format?, _, _): "a string (\(format))"
    case .string: "a string"
    case .enumeration(let words, _): "one of " + words.joined(separator: ", ")
    case .constant(let word): "\"\(word)\""
    case .array: "an array"
    case .map(_, let maximum?): "an object of at most \(maximum) members"
    case .map, .object: "an object"
    case .oneOf(let schemas, _): schemas.map(\.expectation).joined(separator: ", or ")
    case .named(_, let schema): schema.expectation
    }
  }

  private static func join(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}

extension JSONObject {
  /// The first name that is canonically equivalent to an earlier one (Unicode), and so the same as a Swift string; `nil`
  /// if there is none.
  public var equivalentName: String? {
    guard members.contains(where: { member in member.key.utf8.contains { $0 >= 0x80 } }) else { return nil }
    var seen = Set<String>()
    return members.first { !seen.insert($0.key).inserted }?.key
  }
}
