/// Why a text is no TOML that is read here.
struct TOMLSyntaxProblem: Error, Sendable, Hashable {
  /// The line, from 1.
  var line: Int
  /// What is wrong.
  var message: String
}
