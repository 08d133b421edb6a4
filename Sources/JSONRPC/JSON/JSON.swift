/// A JSON value as it stood in the text.
///
/// Numbers keep their spelling and objects the order of their members, so that a value which only passes
/// through the daemon comes out as it went in.
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

  /// The truth value if this is one.
  public var boolValue: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number as an integer, if it is one and fits.
  public var intValue: Int? {
    if case .number(let number) = self { number.integer } else { nil }
  }

  /// The number as a double, if this is a number.
  public var doubleValue: Double? {
    if case .number(let number) = self { number.double } else { nil }
  }

  /// True for `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The member of an object; `nil` when this is no object or has no such member.
  public subscript(key: String) -> JSON? { objectValue?[key] }

  /// What kind of value this is, in JSON Schema's words.
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

  /// An integer as a JSON number.
  public init(_ value: Int) { self = .number(JSONNumber(value)) }
  /// A double as a JSON number; infinities and NaN, which JSON can't say, become `null`.
  public init(_ value: Double) { self = value.isFinite ? .number(JSONNumber(value)) : .null }
  /// A text as a JSON string.
  public init(_ value: String) { self = .string(value) }
}
