import JSONRPC

/// JSON values as YAML 1.2, for people who read long objects.
enum YAMLText {
  /// Returns the lines of a value, each with its newline.
  static func text(of json: JSON) -> String {
    var text = ""
    write(json, indent: "", to: &text)
    return text
  }

  /// Writes a value on lines of its own, each of which begins with `indent`.
  private static func write(_ json: JSON, indent: String, to text: inout String) {
    switch json {
    case .object(let object) where !object.isEmpty:
      for member in object.members {
        text += "\(indent)\(scalar(.string(member.key))):"
        add(member.value, indent: indent, to: &text)
      }
    case .array(let elements) where !elements.isEmpty:
      for element in elements {
        var inner = ""
        write(element, indent: indent + "  ", to: &inner)
        text += "\(indent)- " + inner.dropFirst(indent.count + 2)
      }
    default: text += "\(indent)\(scalar(json))\n"
    }
  }

  /// Writes a value behind a key: on the same line if it is a scalar.
  private static func add(_ json: JSON, indent: String, to text: inout String) {
    switch json {
    case .object(let object) where !object.isEmpty:
      text += "\n"
      write(json, indent: indent + "  ", to: &text)
    case .array(let elements) where !elements.isEmpty:
      text += "\n"
      write(json, indent: indent + "  ", to: &text)
    default: text += " \(scalar(json))\n"
    }
  }

  /// Returns a scalar. A string is written without quotes only where no reader could take it for anything else.
  private static func scalar(_ json: JSON) -> String {
    guard case .string(let string) = json, isPlain(string) else { return JSONWriter.text(of: json) }
    return string
  }

  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
    return !words.contains(text.lowercased())
      && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_.-/".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
