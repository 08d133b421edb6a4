/// A JSON value that the sandbox read from a body or writes into one.
enum JSONTree: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  /// The member of an object; `nil` if this is no object, has no such member, or the member is null.
  subscript(name: String) -> JSONTree? {
    guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
    return value
  }

  /// The text if this is a string.
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The number if this is one.
  var double: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  /// The members if this is an object.
  var members: [String: JSONTree]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// Returns an object of the members that have a value. A `nil` value leaves the member out.
  static func of(_ members: [String: JSONTree?]) -> JSONTree {
    .object(members.compactMapValues { $0 })
  }

  /// Returns a string, or `nil` without a text, so that `of(_:)` leaves the member out.
  static func optional(_ text: String?) -> JSONTree? {
    text.map { .string($0) }
  }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  init(stringLiteral value: String) { self = .string(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(integerLiteral value: Int) { self = .number(Double(value)) }
}

extension JSONTree: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSONTree)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
