import JSONRPC

/// A place where a value has not the shape it should have, in words for whoever wrote the file.
struct SchemaFinding: Sendable, Hashable {
  /// The key's dotted path.
  var path: String
  /// What is wrong and what to do.
  var message: String
  /// The valid name nearest to one that is not known.
  var nearest: String?

  static func unknown(_ path: String, nearest: String?) -> SchemaFinding {
    let advice = nearest.map { "did you mean \($0)?" } ?? "leave it out."
    return SchemaFinding(path: path, message: "This key is not known; \(advice)", nearest: nearest)
  }

  static func missing(_ path: String) -> SchemaFinding {
    SchemaFinding(path: path, message: "This key is missing.")
  }

  static func wrong(_ path: String, _ expectation: String) -> SchemaFinding {
    // The schema speaks JSON, the file's author TOML.
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
