import ArgumentParser
import JSONRPC

/// The help of a command, made from the parser's own description: usage, arguments, options and examples.
///
/// The options of all verbs are listed once, in the help of `sdkctl` itself.
struct HelpPage {
  private static let globalTitle = "Global options"
  /// The column at which descriptions begin.
  private static let column = 26
  private static let widest = 100

  private let path: [String]
  private let command: JSON
  private let root: JSON
  private let width: Int

  /// Creates the help of the command that `words` name. The first unknown word and those after it are ignored; without
  /// any known word it is the help of `sdkctl`.
  init(for words: [String], width: Int?) {
    root = (try? JSONParser.parse(CommandRoot._dumpHelp()))?["command"] ?? [:]
    var command = root
    var path = ["sdkctl"]
    for word in words {
      let known = command["subcommands"]?.arrayValue ?? []
      guard let inner = known.first(where: { $0["commandName"]?.stringValue == word }) else { break }
      command = inner
      path.append(word)
    }
    self.command = command
    self.path = path
    self.width = max(40, min(width ?? 80, Self.widest))
  }

  /// The whole text.
  var text: String {
    let paragraphs = (command["discussion"]?.stringValue ?? "").paragraphs
    // A heading, and lines that are indented.
    let isListing = { (paragraph: String) in paragraph.contains(":\n  ") }
    var parts = [wrapped(command["abstract"]?.stringValue ?? "", indent: 0), "Usage: \(usage)"]
    parts += paragraphs.filter { !isListing($0) }.map { wrapped($0, indent: 0) }
    parts += path.count == 1 ? verbs : [list("Commands", Self.commands(of: command).map(Self.entry))]
    parts += [
      list("Arguments", own.filter { $0["kind"] == "positional" }.map(entry(ofArgument:))),
      list("Options", own.filter { $0["kind"] != "positional" }.map(entry(ofArgument:))),
    ]
    parts += paragraphs.filter(isListing)
    parts.append(path.count == 1 ? list(Self.globalTitle, global.map(entry(ofArgument:))) : globalNames)
    if path.count == 1 {
      parts.append("More: sdkctl VERB --help, sdkctl explain TOPIC, man sdkctl.")
    }
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  private var usage: String {
    let name = path.joined(separator: " ")
    if path.count == 1 { return "\(name) <verb> [arguments] [options]" }
    guard Self.commands(of: command).isEmpty else { return "\(name) <command> [options]" }
    let words = own.compactMap { argument -> String? in
      let isOptional = argument["isOptional"]?.boolValue ?? false
      let isPositional = argument["kind"] == "positional"
      guard isPositional || !isOptional else { return nil }
      var word = isPositional ? Self.value(of: argument) : Self.names(of: argument)
      if isPositional, argument["parsingStrategy"] == "postTerminator" { word = "-- \(word) ..." }
      return isOptional && isPositional ? "[\(word)]" : word
    }
    return ([name] + words + ["[options]"]).joined(separator: " ")
  }

  // MARK: Parts

  private var verbs: [String] {
    let known = Self.commands(of: root)
    return CommandRoot.configuration.groupedSubcommands.map { group in
      let names = group.subcommands.compactMap { $0.configuration.commandName }
      return list(
        group.name, names.compactMap { name in known.first { $0["commandName"]?.stringValue == name } }.map(Self.entry))
    }
  }

  private var own: [JSON] {
    (command["arguments"]?.arrayValue ?? []).filter {
      $0["sectionTitle"]?.stringValue != Self.globalTitle && $0["shouldDisplay"]?.boolValue != false
        && !["help", "version"].contains($0["preferredName"]?["name"]?.stringValue)
    }
  }

  private var global: [JSON] {
    let arguments = Self.commands(of: root).first?["arguments"]?.arrayValue ?? []
    return arguments.filter {
      $0["sectionTitle"]?.stringValue == Self.globalTitle || $0["preferredName"]?["name"] == "help"
        || $0["preferredName"]?["name"] == "version"
    }
  }

  private var globalNames: String {
    let names = global.compactMap { argument in
      (argument["names"]?.arrayValue ?? []).first.flatMap(Self.dashed)
    }
    return wrapped("\(Self.globalTitle): \(names.joined(separator: ", ")). sdkctl --help explains them.", indent: 0)
  }

  private static func commands(of command: JSON) -> [JSON] {
    (command["subcommands"]?.arrayValue ?? []).filter {
      $0["shouldDisplay"]?.boolValue != false && $0["commandName"] != "help"
    }
  }

  private static func entry(_ command: JSON) -> (String, String) {
    (command["commandName"]?.stringValue ?? "?", command["abstract"]?.stringValue ?? "")
  }

  private func entry(ofArgument argument: JSON) -> (String, String) {
    var text = argument["abstract"]?.stringValue ?? ""
    let values = (argument["allValues"]?.arrayValue ?? []).compactMap(\.stringValue)
    if !values.isEmpty { text += " One of \(values.joined(separator: ", "))." }
    if let standard = argument["defaultValue"]?.stringValue { text += " Default: \(standard)." }
    if argument["isRepeating"]?.boolValue == true, argument["kind"] == "option" { text += " Can be repeated." }
    return (argument["kind"] == "positional" ? Self.value(of: argument) : Self.names(of: argument), text)
  }

  private static func value(of argument: JSON) -> String { "<\(argument["valueName"]?.stringValue ?? "value")>" }

  private static func names(of argument: JSON) -> String {
    let names = (argument["names"]?.arrayValue ?? []).compactMap(dashed).sorted { $0.utf8.count < $1.utf8.count }
    return names.joined(separator: ", ") + (argument["kind"] == "option" ? " \(value(of: argument))" : "")
  }

  private static func dashed(_ name: JSON) -> String? {
    name["name"]?.stringValue.map { (name["kind"] == "short" ? "-" : "--") + $0 }
  }

  // MARK: Layout

  private func list(_ title: String, _ entries: [(String, String)]) -> String {
    guard !entries.isEmpty else { return "" }
    let lines = entries.map { name, text -> String in
      let label = "  \(name)"
      let body = wrapped(text, indent: Self.column)
      guard label.count + 2 <= Self.column else { return body.isEmpty ? label : "\(label)\n\(body)" }
      return label + String(repeating: " ", count: Self.column - label.count) + body.dropFirst(Self.column)
    }
    return ([title + ":"] + lines).joined(separator: "\n")
  }

  private func wrapped(_ text: String, indent: Int) -> String {
    var lines: [String] = []
    for word in text.split(whereSeparator: \.isWhitespace) {
      if let line = lines.last, line.count + 1 + word.count <= width - indent {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
  }
}

extension String {
  /// Returns the paragraphs of a text, which empty lines separate.
  fileprivate var paragraphs: [String] {
    var paragraphs: [[Substring]] = [[]]
    for line in split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty { paragraphs.append([]) } else { paragraphs[paragraphs.count - 1].append(line) }
    }
    return paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
  }
}
