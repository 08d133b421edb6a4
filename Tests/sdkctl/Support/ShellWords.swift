extension String {
  /// The words of a command line as a shell splits it: at spaces outside of quotation marks, up to a pipe, a redirection,
  /// another command or a comment.
  var shellWords: [String] {
    var words: [String] = [""]
    var quotation: Character?
    for character in self {
      switch character {
      case _ where character == quotation: quotation = nil
      case "'" where quotation == nil, "\"" where quotation == nil: quotation = character
      case " " where quotation == nil: words.append("")
      default: words[words.count - 1].append(character)
      }
    }
    return Array(words.filter { !$0.isEmpty }.prefix { !["|", "<", ">", "&&", ";", "#"].contains($0) })
  }
}
