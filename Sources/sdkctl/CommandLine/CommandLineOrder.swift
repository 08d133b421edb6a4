import ArgumentParser

/// The processing of a command line that is needed before it is parsed.
enum CommandLineOrder {
  /// The first words of verbs that have two words.
  static var groups: [String] {
    CommandRoot.configuration.subcommands.filter { !$0.configuration.subcommands.isEmpty }
      .compactMap { $0.configuration.commandName }
  }

  /// Moves options of all verbs from before the verb to after it, so that both orders work.
  static func normalized(_ arguments: [String]) -> [String] {
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
    let words = arguments.prefix { $0 != "--" }
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
