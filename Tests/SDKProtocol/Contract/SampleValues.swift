import JSONRPC
import Testing

/// Values made from a schema alone, to compare it with what its type decodes and encodes.
struct SampleValues {
  /// Whether optional members are included.
  var isFull: Bool

  func value(of schema: JSONSchema, member: String = "") -> JSON {
    switch schema {
    case .any: ["anything": [1, nil, "x"]]
    case .null: .null
    case .boolean: true
    case .integer(let minimum, let maximum): JSON(minimum ?? maximum ?? 3)
    case .number: 2.5
    case .string(let format, _, let called): .string(Self.text(called ?? format, member))
    case .enumeration(let words, _): .string(words.last ?? "")
    case .constant(let word): .string(word)
    case .array(let element): [value(of: element, member: member), value(of: element, member: member)]
    case .map(let element, _): ["key": value(of: element, member: member)]
    case .oneOf(let schemas, _): schemas.first.map { value(of: $0, member: member) } ?? .null
    case .named(_, let schema): value(of: schema, member: member)
    case .object(let members):
      .object(
        JSONObject(members.filter { isFull || $0.isRequired }.map { ($0.name, value(of: $0.schema, member: $0.name)) }))
    }
  }

  private static func text(_ format: String?, _ member: String) -> String {
    switch format {
    case "date-time": return "2026-11-21T11:09:00.250Z"
    case let format? where format.hasPrefix("rule"): return "user:kiosk"
    case let format? where format.hasPrefix("instance id"): return "front-desk"
    default: return "text"
    }
  }
}
