import ArgumentParser

/// The words after a verb in their plainest spelling: each option is given once, with its value in a word of its own.
///
/// The verbs that scripts run most are made from such a line without the parser, whose reflection takes most of their
/// time. A verb takes the words that it knows. If it leaves a word, the parser reads the line, so that there is one
/// place for all other spellings, for help and for mistakes.
struct PlainLine {
  private let words: [String]
  private var isTaken: [Bool]
  private var isPlain = true

  init(_ words: some Sequence<String>) {
    self.words = Array(words)
    isTaken = Array(repeating: false, count: self.words.count)
  }

  /// Whether every word was taken.
  var isRead: Bool { isPlain && isTaken.allSatisfy { $0 } }

  /// Takes a flag, and returns whether it is given.
  mutating func flag(_ name: String) -> Bool {
    guard let index = words.firstIndex(of: name) else { return false }
    isTaken[index] = true
    return true
  }

  /// Takes an option with its value. Returns `nil` if it is not given, or not plainly.
  mutating func value<Value: ExpressibleByArgument>(_ names: String..., as type: Value.Type = Value.self) -> Value? {
    guard let index = words.indices.first(where: { !isTaken[$0] && names.contains(words[$0]) }) else { return nil }
    isTaken[index] = true
    return value(at: index + 1)
  }

  /// Takes an option that may be given repeatedly, and returns its values.
  mutating func values<Value: ExpressibleByArgument>(_ name: String, as type: Value.Type = Value.self) -> [Value] {
    var values: [Value] = []
    while isPlain, let next = value(name, as: type) { values.append(next) }
    return values
  }

  /// Takes the first word that is left. Must be called after all options were taken.
  mutating func argument<Value: ExpressibleByArgument>(as type: Value.Type = Value.self) -> Value? {
    guard let index = isTaken.firstIndex(of: false) else { return nil }
    return value(at: index)
  }

  /// Checks options that were taken together.
  mutating func check(_ options: some ParsableArguments) {
    var options = options
    do { try options.validate() } catch { isPlain = false }
  }

  private mutating func value<Value: ExpressibleByArgument>(at index: Int) -> Value? {
    guard index < words.count, !isTaken[index], !words[index].isEmpty, !words[index].hasPrefix("-"),
      let value = Value(argument: words[index])
    else {
      isPlain = false
      return nil
    }
    isTaken[index] = true
    return value
  }
}
