/// A JSON value that keeps the form it has in the text.
///
/// Numbers keep their spelling, and objects the order of their members. So a value that the daemon only passes on is
/// sent as it was received.
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

extension JSON: Hashable {
  /// Returns whether both are the same value. Texts compare as UTF-8 bytes.
  public static func == (one: JSON, other: JSON) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.number(let one), .number(let other)): one == other
    case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let text): hasher.combine(UTF8Key(text))
    case .array(let elements): hasher.combine(elements)
    case .object(let object): hasher.combine(object)
    }
  }
}

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

/// A JSON number that keeps its spelling: `1.0`, `1e0` and `1` are three different values.
public struct JSONNumber: Sendable, Hashable {
  /// The number as written, valid under the JSON grammar.
  public let text: String

  /// Makes a number from an integer, in decimal.
  public init(_ value: Int) { text = String(value) }

  /// Makes a number from a finite double, in its shortest exact spelling. Whole numbers below 1e15 in magnitude get no
  /// fraction.
  public init(_ value: Double) {
    if value == value.rounded(), abs(value) < 1e15 {
      text = String(Int64(value))
    } else {
      text = value.isFinite ? "\(value)" : "0"
    }
  }

  /// Makes a number from a text whose grammar the caller has checked, such as the parser.
  init(checked text: String) { self.text = text }

  /// The value as an integer. `nil` if it has a fraction or doesn't fit; with a point or an exponent, values beyond
  /// ±2^53 don't fit.
  public var integer: Int? {
    if let exact = Int(text) { return exact }
    guard let double, double == double.rounded(), abs(double) <= 9_007_199_254_740_992 else { return nil }
    return Int(double)
  }

  /// The nearest double; `nil` if the number is too large for one.
  public var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
