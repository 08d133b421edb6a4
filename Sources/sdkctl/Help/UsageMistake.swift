import ArgumentParser
import JSONRPC
import SDKProtocol

/// The failure for a command line that the parser refuses, with the nearest word that it knows.
enum UsageMistake {
  /// Hints for words that people take for a verb, and that no verb is near.
  private static let otherWays = [
    "metrics": "sdkctl top shows the metrics, and sdkctl call \(DaemonMetrics.name) prints them"
  ]

  /// Returns the failure for arguments that the parser refused: a verb that does not exist, else an invalid value.
  ///
  /// - Parameter message: the parser's own message.
  static func failure(_ arguments: [String], message: String) -> CommandFailure {
    unknownCommand(arguments) ?? invalidValue(arguments, message)
  }

  /// Returns the failure for a verb, or a topic of `help`, that does not exist; `nil` if all words exist.
  static func unknownCommand(_ arguments: [String]) -> CommandFailure? {
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    var command: any ParsableCommand.Type = CommandRoot.self
    var path = "sdkctl"
    while let word = words.popFirst(), !word.hasPrefix("-") {
      let known = command.configuration.subcommands
      guard !known.isEmpty else { return nil }
      if let next = known.first(where: { $0.configuration.commandName == word }) {
        command = next
        path += " \(word)"
        continue
      }
      let names = known.compactMap { $0.configuration.commandName }
      if command == CommandRoot.self, word == "help" || word.hasPrefix("---") { return nil }
      let near = word.nearest(in: names).map { "did you mean \($0)?" } ?? otherWays[word]
      return .usage(
        "\(path) has no \(path == "sdkctl" ? "verb" : "command") \(word).",
        hints: (near.map { [$0] } ?? [])
          + (names.count > 6 ? [] : ["it has \(names.joined(separator: ", "))"]) + ["see \(path) --help"])
    }
    return nil
  }

  private static func invalidValue(_ arguments: [String], _ message: String) -> CommandFailure {
    var lines = message.split(separator: "\n").map(String.init)
    var text = lines.isEmpty ? "The command line can't be read." : lines.removeFirst()
    let list = "Please provide one of"
    // Either a list below the message, or words in quotes in it.
    var values = lines.filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4).prefix { $0 != " " }) }
    if values.isEmpty, let range = text.firstRange(of: list) { values = quoted(text[range.upperBound...]) }
    var hints: [String] = []
    let words = quoted(text[...])
    if !values.isEmpty {
      text = String(text.prefix(upTo: text.firstRange(of: list)?.lowerBound ?? text.endIndex))
      while text.last?.isWhitespace == true { text.removeLast() }
      hints += words.first?.nearest(in: values).map { ["did you mean \($0)?"] } ?? []
      hints.append("one of: \(values.joined(separator: ", "))")
    } else if text.hasPrefix("The value"), words.count > 1, let form = form(of: words[1]) {
      hints.append(form)
    } else {
      hints += missingOption(arguments, text, words)
    }
    if text.last.map({ $0.isLetter || $0 == "'" }) ?? false { text += "." }
    return .usage(text, hints: hints + [CommandLineOrder.helpHint(arguments)])
  }

  /// Returns hints to the option that `create` and `update` want for a word: a setting, or the kind.
  private static func missingOption(_ arguments: [String], _ text: String, _ words: [String]) -> [String] {
    guard arguments.first == "create" || arguments.first == "update" else { return [] }
    if words.first?.hasPrefix("--kind") == true { return ["sdkctl explain lists the kinds"] }
    guard text.contains("nexpected argument"), let word = words.first(where: { $0.contains("=") }) else { return [] }
    return ["did you mean --setting \(word.prefix { $0 != "=" })=…?"]
  }

  /// Returns the form of a value, by the metavariable in a name such as `--timeout <duration>`.
  private static func form(of name: String) -> String? {
    let variable = name.split(separator: "<").last?.dropLast() ?? ""
    switch variable {
    case "instance": return "an id has 1 to 64 of a-z, 0-9, . _ and -, and begins with a letter or a digit"
    case "duration": return "a duration is a number of seconds, or such as 500ms, 10s, 5m or 2h"
    case "rule":
      return "a rule is *, or conditions joined by +: user:NAME, uid:N, group:NAME, unit:NAME.service, "
        + "user-unit:NAME.service@USER, user-scope:NAME@USER"
    case "k=v": return "it takes a key, = and a value"
    case "text" where name.hasPrefix("--template"): return "each { needs a }; {{ and }} stand for braces"
    default: return nil
    }
  }

  /// Returns the words between apostrophes.
  private static func quoted(_ text: Substring) -> [String] {
    text.split(separator: "'", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
      .map { String($0.element) }
  }
}
