import Foundation
import JSONRPC

extension JSON {
  /// Parses a JSON text; `nil` if the text is not valid JSON or is nested too deeply.
  init?(parsing text: Data) {
    guard let json = try? JSONParser.parse(text) else { return nil }
    self = json
  }

  /// The value as JSON text.
  var encoded: Data { Data(JSONWriter.bytes(of: self)) }

  /// The members by name if this is an object.
  var members: [String: JSON]? {
    objectValue.map { Dictionary($0.members.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 }) }
  }

  /// Returns the member of an object; `nil` if this is no object, has no such member, or the member is null.
  func given(_ name: String) -> JSON? { self[name].flatMap(\.unlessNull) }

  /// The value; `nil` if it is null.
  var unlessNull: JSON? {
    if case .null = self { nil } else { self }
  }

  /// Returns an object of the members that have a value. A `nil` value leaves the member out.
  static func of(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(JSONObject(members.compactMap { member in member.value.map { (member.key, $0) } }))
  }

  /// Returns an object of these members, sorted by name.
  static func object(_ members: [String: JSON]) -> JSON {
    .object(JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
  }

  /// Returns a number.
  static func number(_ value: Double) -> JSON { JSON(value) }

  /// Returns a string, or `nil` without a text, so that `of(_:)` leaves the member out.
  static func optional(_ text: String?) -> JSON? { text.map { .string($0) } }
}
