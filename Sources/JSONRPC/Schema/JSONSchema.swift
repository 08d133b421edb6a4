/// The shape of a value on the wire: what a peer may send, said once, for the check, the error and the document.
public indirect enum JSONSchema: Sendable {
  /// Anything at all.
  case any
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean
  /// A whole number within bounds.
  case integer(minimum: Int? = nil, maximum: Int? = nil)
  /// Any number.
  case number
  /// Text; `format` is a word for the reader, such as `date-time`.
  case string(format: String? = nil)
  /// One of these texts.
  case enumeration([String])
  /// A list.
  case array(JSONSchema)
  /// An object whose member names are the peer's choice, of at most so many members.
  case map(JSONSchema, atMost: Int? = nil)
  /// An object with these members and no others.
  case object([JSONMember])
  /// One of several shapes.
  case oneOf([JSONSchema])
  /// A shape with a name of its own, under which the document lists it.
  case named(String, JSONSchema)
}

/// One member of an object's shape.
public struct JSONMember: Sendable {
  /// The member's name on the wire.
  public let name: String
  /// The shape of its value.
  public let schema: JSONSchema
  /// Whether it may be left out; `null` then means the same.
  public let isRequired: Bool
  /// What it means, in one sentence or less.
  public let summary: String

  /// A member that must be there.
  public static func required(_ name: String, _ schema: JSONSchema, _ summary: String) -> JSONMember {
    JSONMember(name: name, schema: schema, isRequired: true, summary: summary)
  }

  /// A member that may be left out.
  public static func optional(_ name: String, _ schema: JSONSchema, _ summary: String) -> JSONMember {
    JSONMember(name: name, schema: schema, isRequired: false, summary: summary)
  }
}

/// A type that has a shape on the wire.
public protocol JSONSchemaRepresentable {
  /// The shape of this type's values.
  static var jsonSchema: JSONSchema { get }
}

extension JSONSchema {
  /// The shape of nothing: an object without members.
  public static var empty: JSONSchema { .object([]) }

  /// The members if this is an object, looking through its name.
  public var members: [JSONMember]? {
    switch self {
    case .object(let members): members
    case .named(_, let schema): schema.members
    default: nil
    }
  }
}
