/// A JSON value that keeps the form it has in the text.
///
/// Numbers keep their spelling and objects the order of their members. So a value that only passes through the daemon
/// leaves it as it came.
public enum JSON: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSON])
  case object(JSONObject)

  /// The members if this is an object.
  public var objectValue: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// The text if this is a string.
  public var stringValue: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The elements if this is an array.
  public var arrayValue: [JSON]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The truth value if this is a boolean.
  public var boolValue: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number as an integer; `nil` if this is no number, or its value isn't an integer that fits.
  public var intValue: Int? {
    if case .number(let number) = self { number.integer } else { nil }
  }

  /// The nearest double; `nil` if this is no number, or one too large for a double.
  public var doubleValue: Double? {
    if case .number(let number) = self { number.double } else { nil }
  }

  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The member of this name; `nil` if this is not an object or has no such member.
  public subscript(key: String) -> JSON? { objectValue?[key] }

  /// The type of this value, as JSON Schema names it.
  public var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension JSON: Hashable {}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
  public init(floatLiteral value: Double) { self = .number(JSONNumber(value)) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(JSONObject(elements.map { ($0.0, $0.1) }))
  }
  public init(nilLiteral: ()) { self = .null }

  /// Makes a JSON number from an integer.
  public init(_ value: Int) { self = .number(JSONNumber(value)) }
  /// Makes a JSON number from a double. Infinities and NaN, which JSON can't express, become `null`.
  public init(_ value: Double) { self = value.isFinite ? .number(JSONNumber(value)) : .null }
  /// Makes a JSON string from a text.
  public init(_ value: String) { self = .string(value) }
}
