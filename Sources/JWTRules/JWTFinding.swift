package import JSONRPC

/// A finding about a JWT, such as a reason why it will be refused.
package struct JWTFinding: Hashable, Sendable {
  /// The severity of a finding, the most severe first.
  package enum Severity: String, CaseIterable, Sendable {
    /// The JWT will be refused.
    case error
    /// The JWT may be refused, or will be soon.
    case warning
    /// Information only.
    case note
  }

  package let severity: Severity
  /// The stable name.
  package let name: String
  /// The message, one sentence.
  package let message: String
  /// The words that travel in the `hints` of an answer; `nil` for a finding that `lint-jwt` alone shows.
  package let hint: String?
  /// Whether a kind that is strict about JWTs refuses this one.
  package let isFatal: Bool

  /// Creates a finding.
  package init(_ severity: Severity, _ name: String, _ message: String, hint: String? = nil, isFatal: Bool = false) {
    self.severity = severity
    self.name = name
    self.message = message
    self.hint = hint
    self.isFatal = isFatal
  }

  /// The finding as JSON.
  package var json: JSON {
    ["severity": .string(severity.rawValue), "name": .string(name), "message": .string(message)]
  }
}

extension [JWTFinding] {
  /// The findings, the most severe first.
  package var bySeverity: [JWTFinding] {
    JWTFinding.Severity.allCases.flatMap { severity in filter { $0.severity == severity } }
  }

  /// What travels in the `hints` of an answer.
  package var hints: [String] { compactMap(\.hint) }
}
