import ArgumentParser

/// The processing of a command line that is needed before it is parsed.
enum CommandLineOrder {
  /// The first words of verbs that have two words.
  static var groups: [String] {
    CommandRoot.configuration.subcommands.filter { !$0.configuration.subcommands.isEmpty }
      .compactMap { $0.configuration.commandName }
  }

  /// Returns the line with the names of this program: options of all verbs go from before the verb to after it, and the
  /// words of other programs are replaced.
  static func normalized(_ arguments: [String]) -> [String] { VerbSynonym.translated(ordered(arguments)) }

  /// Moves options of all verbs from before the verb to after it, so that both orders work.
  private static func ordered(_ arguments: [String]) -> [String] {
    let options = GlobalOptions.wordsWithValue
    var moved = 0
    while moved < arguments.count {
      let word = arguments[moved]
      if GlobalOptions.words.contains(word) || options.contains(where: { word.hasPrefix("\($0)=") }) {
        moved += 1
      } else if options.contains(word) {
        moved += 2
      } else {
        break
      }
    }
    guard moved > 0, moved < arguments.count, !arguments[moved].hasPrefix("-") else { return arguments }
    let verb = moved + (groups.contains(arguments[moved]) ? 2 : 1)
    return Array(arguments[moved..<min(verb, arguments.count)]) + arguments[..<moved]
      + arguments[min(verb, arguments.count)...]
  }

  /// Returns a command line without the option `--host`.
  static func withoutHost(_ arguments: [String]) -> [String] {
    var isValue = false
    return arguments.filter { word in
      defer { isValue = word == "-H" || word == "--host" }
      return !isValue && word != "-H" && word != "--host" && !word.hasPrefix("--host=") && !word.hasPrefix("-H=")
    }
  }

  /// Whether errors are printed as JSON, also for a command line that can't be parsed.
  static func asksForJSON(_ arguments: [String]) -> Bool {
    // The words after these belong to another program.
    let words = arguments.prefix { $0 != "--" && $0 != "--provider-command" }
    if words.contains("--json") { return true }
    let formats = zip(words, words.dropFirst()).compactMap { ["-o", "--output"].contains($0) ? $1 : nil }
    let joined = words.compactMap { word in
      ["-o=", "--output="].first { word.hasPrefix($0) }.map { String(word.dropFirst($0.count)) }
    }
    return (formats + joined).contains { $0 == "json" || $0 == "jsonl" }
  }

  /// Returns the hint to the help after a wrong command line.
  static func helpHint(_ arguments: [String]) -> String {
    let verbs = CommandRoot.configuration.subcommands.compactMap { $0.configuration.commandName }
    guard let verb = arguments.first, verbs.contains(verb) else { return "see sdkctl --help" }
    return "see sdkctl \(verb) --help"
  }
}

/// Verbs of other programs, such as kubectl and docker, and the verbs of `sdkctl` that they stand for.
enum VerbSynonym {
  /// The synonyms of one verb each. `get` and `version` are not among them: the words behind them decide.
  private static let verbs = [("ls", "list"), ("describe", "show"), ("rm", "delete"), ("info", "status")]

  /// The options of `list` that take a value.
  private static let listOptions: Set<String> = ["--kind", "--state", "--label"]

  /// The sentence about them for the help.
  static let sentence =
    "Other words for verbs: " + verbs.map { "\($0) is \($1)" }.joined(separator: ", ")
    + ", get is list, with an instance show, version and -V are --version."

  /// Returns the line with the verb in place of its synonym.
  static func translated(_ arguments: [String]) -> [String] {
    guard let first = arguments.first else { return arguments }
    let rest = Array(arguments.dropFirst())
    switch first {
    case "help": return [first] + (rest.first == "get" ? ["show"] + rest.dropFirst() : translated(rest))
    case "get": return [hasArgument(rest) ? "show" : "list"] + rest
    case "version", "-V": return ["--version"] + rest
    default: return [verbs.first { $0.0 == first }?.1 ?? first] + rest
    }
  }

  private static func hasArgument(_ words: [String]) -> Bool {
    var rest = words[...]
    while let word = rest.popFirst() {
      if GlobalOptions.wordsWithValue.contains(word) || listOptions.contains(word) {
        _ = rest.popFirst()
      } else if !word.hasPrefix("-") {
        return true
      }
    }
    return false
  }
}
