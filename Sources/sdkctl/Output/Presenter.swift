import JSONRPC
import SDKProtocol

/// Prints results in the form that was asked for.
struct Presenter {
  let format: OutputFormat
  let template: Template?
  let output: Output

  /// Whether a person reads it: neither JSON nor a template was asked for.
  var isForPeople: Bool { format == .table && template == nil }

  /// One object; `table` makes the text for people.
  func show(_ json: JSON, table: () -> Table) throws {
    if let template { return try output.text(template.text(of: json) + "\n") }
    switch format {
    case .table: try output.text(table().text(hasColour: output.hasColour, width: output.width))
    case .json: try indented(json)
    case .jsonl: try output.line(JSONWriter.text(of: json))
    }
  }

  /// One object, for people as the paths of its members and their values.
  func show(_ json: JSON) throws { try show(json) { MemberTable.table(of: json) } }

  /// Several objects; `table` makes the text for people.
  func list(_ items: [JSON], table: () -> Table) throws {
    guard template == nil, format != .jsonl else {
      for item in items { try show(item) }
      return
    }
    try show(.array(items), table: table)
  }

  /// JSON over several lines.
  func indented(_ json: JSON) throws {
    let text = OpenRPCDocument.text(of: json)
    for line in text.split(separator: "\n") { try output.line(String(line)) }
  }
}

extension Presenter {
  /// Whether several objects make one array.
  var isArray: Bool { format == .json && template == nil }

  /// One object of a list that has no end: a line even where an array can't be.
  func line(_ json: JSON) throws {
    if let template { return try output.text(template.text(of: json) + "\n") }
    try output.line(JSONWriter.text(of: json))
  }
}
