import JSONRPC

/// A mismatch between a value and its schema, worded for the author of the file.
struct SchemaFinding: Sendable, Hashable {
  /// The key's dotted path.
  var path: String
  /// The problem and its correction.
  var message: String
  /// The valid name nearest to an unknown one.
  var nearest: String?

  static func unknown(_ path: String, nearest: String?) -> SchemaFinding {
    let advice = nearest.map { "did you mean \($0)?" } ?? "leave it out."
    return SchemaFinding(path: path, message: "This key is not known; \(advice)", nearest: nearest)
  }

  static func missing(_ path: String) -> SchemaFinding {
    SchemaFinding(path: path, message: "This key is missing.")
  }

  static func wrong(_ path: String, _ expectation: String) -> SchemaFinding {
    // The schema uses terms of JSON, the file's author those of TOML.
    let words = expectation == "an object" ? "a table" : expectation
    return SchemaFinding(path: path, message: "This must be \(words).")
  }

  init(path: String, message: String, nearest: String? = nil) {
    self.path = path
    self.message = message
    self.nearest = nearest
  }

  init(_ violation: JSONSchemaViolation) {
    switch violation.problem {
    case .unknown(let nearest): self = .unknown(violation.member, nearest: nearest)
    case .missing: self = .missing(violation.member)
    case .wrong(let expected): self = .wrong(violation.member, expected)
    }
  }
}
