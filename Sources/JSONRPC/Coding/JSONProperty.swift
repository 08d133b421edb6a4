/// A value that writes its JSON text without a `JSON` tree. The text is that of the tree which `JSONValueEncoder` makes.
public protocol JSONTextRepresentable: Encodable {
  /// Appends the value's JSON text.
  func write(to writer: inout JSONWriter)
}

/// A type whose values are JSON objects with declared properties.
///
/// The schema, the text and the encoding of the type all follow from the declaration, so a member is named once.
public protocol JSONObjectRepresentable: JSONTextRepresentable {
  /// The properties, in the order of the text.
  static var properties: [JSONProperty<Self>] { get }
}

/// A property of a type: the member of its JSON object, and the function that reads its value.
///
/// An object, and inlined into the module of the type: a text is written without a look-up of types and without copies.
public final class JSONProperty<Owner>: Sendable {
  /// The member in the type's schema.
  public let member: JSONMember
  /// The member's name as JSON text, with the colon.
  @usableFromInline let label: [UInt8]
  /// Returns the value; `nil` if the object has no such member.
  let value: @Sendable (Owner) -> (any Encodable)?
  /// Writes the label and the value, if the object has such a member.
  @usableFromInline let write: @Sendable (Owner, inout JSONWriter) -> Void

  @usableFromInline
  init(
    _ member: JSONMember, label: [UInt8], value: @escaping @Sendable (Owner) -> (any Encodable)?,
    write: @escaping @Sendable (Owner, inout JSONWriter) -> Void
  ) {
    self.member = member
    self.label = label
    self.value = value
    self.write = write
  }

  /// Returns a property that each value has.
  @inlinable
  public static func required<Value: JSONTextRepresentable & SendableMetatype>(
    _ name: String, _ schema: JSONSchema, _ summary: String, _ value: @escaping @Sendable (Owner) -> Value
  ) -> JSONProperty {
    let label = JSONWriter.label(name)
    return JSONProperty(.required(name, schema, summary), label: label, value: { value($0) }) { owner, writer in
      writer.write(label: label)
      value(owner).write(to: &writer)
    }
  }

  /// Returns a property that is left out where it is `nil`.
  @inlinable
  public static func optional<Value: JSONTextRepresentable & SendableMetatype>(
    _ name: String, _ schema: JSONSchema, _ summary: String, _ value: @escaping @Sendable (Owner) -> Value?
  ) -> JSONProperty {
    let label = JSONWriter.label(name)
    return JSONProperty(.optional(name, schema, summary), label: label, value: { value($0) }) { owner, writer in
      guard let value = value(owner) else { return }
      writer.write(label: label)
      value.write(to: &writer)
    }
  }
}

extension JSONObjectRepresentable {
  @inlinable
  public func write(to writer: inout JSONWriter) {
    writer.write(byte: UInt8(ascii: "{"))
    for property in Self.properties { property.write(self, &writer) }
    writer.write(byte: UInt8(ascii: "}"))
  }

  /// Appends the object's text, in which the member `name` has a text that exists already.
  ///
  /// - Throws: `UnknownProperty` if the type has no such member.
  func write(to writer: inout JSONWriter, replacing name: String, with text: [UInt8]) throws(UnknownProperty) {
    guard Self.properties.contains(where: { $0.member.name == name }) else { throw UnknownProperty(name: name) }
    writer.write(byte: UInt8(ascii: "{"))
    for property in Self.properties {
      if property.member.name == name {
        writer.write(label: property.label)
        writer.write(raw: text)
      } else {
        property.write(self, &writer)
      }
    }
    writer.write(byte: UInt8(ascii: "}"))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: IndexKey.self)
    for property in Self.properties {
      guard let value = property.value(self) else { continue }
      try container.encode(value, forKey: IndexKey(stringValue: property.member.name))
    }
  }
}

/// The error of a name that no property of a type has.
public struct UnknownProperty: Error, Hashable {
  /// The name.
  public let name: String
}

extension JSONSchema {
  /// Returns the shape of an object with these properties and no others.
  public static func object<Owner>(_ properties: [JSONProperty<Owner>]) -> JSONSchema {
    .object(properties.map(\.member))
  }
}

extension JSONWriter {
  /// Returns the text of any value that can be encoded.
  ///
  /// - Throws: what the type's own `encode(to:)` throws.
  public static func bytes(encoding value: some Encodable) throws -> [UInt8] {
    guard let value = value as? any JSONTextRepresentable else {
      return bytes(of: try JSONValueEncoder.encode(value))
    }
    var writer = JSONWriter(reserving: 256)
    value.write(to: &writer)
    return writer.bytes
  }
}
