/// The reason why a TOML text is rejected.
struct TOMLSyntaxProblem: Error, Sendable, Hashable {
  /// The line, from 1.
  var line: Int
  /// The problem.
  var message: String
}
