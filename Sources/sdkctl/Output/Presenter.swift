import ArgumentParser
import JSONRPC
import SDKProtocol

/// A printer of results in the requested format.
struct Presenter {
  let format: OutputFormat
  let template: Template?
  /// Whether tables have a header.
  var hasHeaders = true
  let output: Output

  /// Whether the output is for people: neither JSON, YAML, names nor a template were requested.
  var isForPeople: Bool { format == .table && template == nil }

  /// Prints one object; `table` makes the text for people.
  func show(_ json: JSON, table: () -> Table) throws {
    if let template { return try output.text(template.text(of: json) + "\n") }
    switch format {
    case .table:
      try output.text(table().text(hasColour: output.hasColour, width: output.width, hasHeader: hasHeaders))
    case .json, .yaml: try indented(json)
    case .jsonl: try output.line(JSONWriter.text(of: json))
    case .name: if let name = Self.name(of: json) { try output.line(name) }
    }
  }

  /// Prints one object, for people as the paths of its members and their values.
  func show(_ json: JSON) throws { try show(json) { MemberTable.table(of: json) } }

  /// Prints several objects; `table` makes the text for people.
  ///
  /// - Parameters:
  ///   - none: the sentence for people in place of an empty table; it goes to `errors`.
  func list(_ items: [JSON], none: String = "", _ errors: Output? = nil, table: () -> Table) throws {
    guard template == nil, format != .jsonl, format != .name else {
      for item in items { try show(item) }
      return
    }
    if items.isEmpty, isForPeople, !none.isEmpty, let errors { return try errors.wrapped(line: none) }
    try show(.array(items), table: table)
  }

  /// Returns what an object is called: the id of an instance or a registration, a key, a name; `nil` for an object
  /// that has none.
  static func name(of json: JSON) -> String? {
    ["instance", "id", "key", "name"].lazy.compactMap { json[$0]?.stringValue }.first
  }

  /// Prints a value over several lines: as YAML if that was requested, otherwise as JSON.
  func indented(_ json: JSON) throws {
    let text = format == .yaml ? YAMLText.text(of: json) : OpenRPCDocument.text(of: json)
    for line in text.split(separator: "\n") { try output.line(String(line)) }
  }
}

extension Presenter {
  /// Whether several objects are printed as one array.
  var isArray: Bool { [.json, .yaml].contains(format) && template == nil }

  /// Prints one object of an endless list. It is a line also in the format `json`, whose array would never end, and a
  /// document in the format `yaml`.
  func line(_ json: JSON) throws {
    if let template { return try output.text(template.text(of: json) + "\n") }
    if format == .name { return try show(json) }
    guard format == .yaml else { return try output.line(JSONWriter.text(of: json)) }
    try output.line("---")
    try indented(json)
  }
}

/// The format in which results are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case table, json, jsonl, yaml, name
}
