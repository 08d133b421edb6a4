import JSONRPC

/// A table of any object, with the paths of its members and their values.
enum MemberTable {
  /// The members that are secrets if they are no objects.
  private static let secrets: Set<String> = ["token", "accessToken", "refreshToken"]
  /// The members that hold nothing but secrets.
  private static let secretObjects: Set<String> = ["headers", "cookies"]

  /// Returns the table. Secrets are masked: they are for programs, which request JSON.
  static func table(of json: JSON) -> Table {
    var rows: [[Table.Cell]] = []
    add(json, path: "", isSecret: false, to: &rows)
    return Table(header: [], rows: rows)
  }

  private static func add(_ json: JSON, path: String, isSecret: Bool, to rows: inout [[Table.Cell]]) {
    func inner(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    switch json {
    case .object(let object):
      for member in object.members {
        let isNamed = secrets.contains(member.key) && member.value.objectValue == nil
        add(
          member.value, path: inner(member.key),
          isSecret: isSecret || isNamed || secretObjects.contains(member.key), to: &rows)
      }
    case .array(let elements) where elements.contains(where: isCompound):
      for (index, element) in elements.enumerated() {
        add(element, path: inner("\(index)"), isSecret: isSecret, to: &rows)
      }
    default:
      rows.append([Table.Cell(path, .bold), Table.Cell(isSecret && !json.isNull ? "‹secret›" : word(json))])
    }
  }

  private static func isCompound(_ json: JSON) -> Bool { json.objectValue != nil || json.arrayValue != nil }

  /// Returns a value as text, without quotes and brackets.
  static func word(_ json: JSON) -> String {
    switch json {
    case .string(let text): text
    case .null: "-"
    case .array(let elements): elements.map(word).joined(separator: ", ")
    default: JSONWriter.text(of: json)
    }
  }
}
