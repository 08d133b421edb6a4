/// The shape of a value in messages. Validation, error messages and the published document all follow from it.
public indirect enum JSONSchema: Sendable {
  /// Any value.
  case any
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean
  /// A whole number within bounds; `nil` for no bound.
  case integer(minimum: Int? = nil, maximum: Int? = nil)
  /// Any number.
  case number
  /// A string. `format`, a format of JSON Schema, and `pattern`, a regular expression, are published but not checked:
  /// the type that decodes the string checks it. `called` is the string's form in error messages.
  case string(format: String? = nil, pattern: String? = nil, called: String? = nil)
  /// A string out of this list. `meanings` has one sentence for each string, or is empty.
  case enumeration([String], meanings: [String] = [])
  /// A string that is always the same, such as the type of an event.
  case constant(String)
  /// An array whose elements have this shape.
  case array(JSONSchema)
  /// An object whose member names are chosen by the peer, with at most `atMost` members; `nil` for no limit.
  case map(JSONSchema, atMost: Int? = nil)
  /// An object with these members and no others.
  case object([JSONMember])
  /// A value of at least one of these shapes. `discriminator` is the member whose constant tells objects apart.
  case oneOf([JSONSchema], discriminator: String? = nil)
  /// A shape with a name, under which the document lists it.
  case named(String, JSONSchema)
}

/// A member of an object's shape.
public struct JSONMember: Sendable {
  /// The member's name in messages.
  public let name: String
  /// The shape of its value.
  public let schema: JSONSchema
  /// Whether the member must be present. In an optional member `null` is the same as absence.
  public let isRequired: Bool
  /// The meaning of the member, in one sentence or less.
  public let summary: String

  /// Returns a member that must be present.
  public static func required(_ name: String, _ schema: JSONSchema, _ summary: String) -> JSONMember {
    JSONMember(name: name, schema: schema, isRequired: true, summary: summary)
  }

  /// Returns a member that may be absent.
  public static func optional(_ name: String, _ schema: JSONSchema, _ summary: String) -> JSONMember {
    JSONMember(name: name, schema: schema, isRequired: false, summary: summary)
  }
}

/// A type whose values have a declared shape in messages.
public protocol JSONSchemaRepresentable {
  /// The shape of this type's values.
  static var jsonSchema: JSONSchema { get }
}

/// An enumeration of strings in messages, each with a meaning.
public protocol DescribedEnumeration: CaseIterable, RawRepresentable, JSONSchemaRepresentable where RawValue == String {
  /// The meaning of the value, as one sentence.
  var meaning: String { get }
}

extension DescribedEnumeration {
  /// Returns the shape of the enumeration under a name.
  public static func schema(named name: String) -> JSONSchema {
    .named(name, .enumeration(allCases.map(\.rawValue), meanings: allCases.map(\.meaning)))
  }
}

extension JSONSchema {
  /// The shape of an object without members.
  public static let empty = JSONSchema.named("Empty", .object([]))
  /// The shape of a string that must not be disclosed, by the format of OpenAPI. Generators of clients hide its value.
  public static let secret = JSONSchema.string(format: "password")
  /// The shape of a URL.
  public static let url = JSONSchema.string(format: "uri", called: "URL")

  /// The members if this is an object shape, with or without a name; else `nil`.
  public var members: [JSONMember]? {
    switch self {
    case .object(let members): members
    case .named(_, let schema): schema.members
    default: nil
    }
  }
}
