public import JSONRPC

extension OpenRPCDocument {
  /// Returns the text of the document for a file: indented, with a newline at its end.
  public static func text(of document: JSON) -> String {
    var text = ""
    write(document, indent: "", into: &text)
    return text + "\n"
  }

  private static func write(_ json: JSON, indent: String, into text: inout String) {
    let inner = indent + "  "
    switch json {
    case .object(let object) where !object.isEmpty:
      text += "{\n"
      for (index, member) in object.members.enumerated() {
        text += inner + JSONWriter.text(of: .string(member.key)) + ": "
        write(member.value, indent: inner, into: &text)
        text += index + 1 < object.count ? ",\n" : "\n"
      }
      text += indent + "}"
    case .array(let array) where !array.isEmpty:
      text += "[\n"
      for (index, element) in array.enumerated() {
        text += inner
        write(element, indent: inner, into: &text)
        text += index + 1 < array.count ? ",\n" : "\n"
      }
      text += indent + "]"
    default: text += JSONWriter.text(of: json)
    }
  }
}
