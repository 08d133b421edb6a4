import JSONRPC
import SDKProtocol

/// A printer of results in the requested format.
struct Presenter {
  let format: OutputFormat
  let template: Template?
  let output: Output

  /// Whether the output is for people: neither JSON nor a template was requested.
  var isForPeople: Bool { format == .table && template == nil }

  /// Prints one object; `table` makes the text for people.
  func show(_ json: JSON, table: () -> Table) throws {
    if let template { return try output.text(template.text(of: json) + "\n") }
    switch format {
    case .table: try output.text(table().text(hasColour: output.hasColour, width: output.width))
    case .json: try indented(json)
    case .jsonl: try output.line(JSONWriter.text(of: json))
    }
  }

  /// Prints one object, for people as the paths of its members and their values.
  func show(_ json: JSON) throws { try show(json) { MemberTable.table(of: json) } }

  /// Prints several objects; `table` makes the text for people.
  func list(_ items: [JSON], table: () -> Table) throws {
    guard template == nil, format != .jsonl else {
      for item in items { try show(item) }
      return
    }
    try show(.array(items), table: table)
  }

  /// Prints JSON over several lines.
  func indented(_ json: JSON) throws {
    let text = OpenRPCDocument.text(of: json)
    for line in text.split(separator: "\n") { try output.line(String(line)) }
  }
}

extension Presenter {
  /// Whether several objects are printed as one array.
  var isArray: Bool { format == .json && template == nil }

  /// Prints one object of an endless list. It is a line also in the format `json`, whose array would never end.
  func line(_ json: JSON) throws {
    if let template { return try output.text(template.text(of: json) + "\n") }
    try output.line(JSONWriter.text(of: json))
  }
}
