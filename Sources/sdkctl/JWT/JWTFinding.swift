import JSONRPC
import SDKProtocol

/// A finding about a JWT, such as a reason why it will be refused.
struct JWTFinding: Hashable {
  /// The severity of a finding.
  enum Severity: String {
    /// The JWT will be refused.
    case error
    /// The JWT may be refused, or will be soon.
    case warning
    /// Information only.
    case note
  }

  let severity: Severity
  /// The stable name.
  let name: String
  /// The message, one sentence.
  let message: String

  init(_ severity: Severity, _ name: String, _ message: String) {
    self.severity = severity
    self.name = name
    self.message = message
  }

  /// The finding as JSON.
  var json: JSON {
    ["severity": .string(severity.rawValue), "name": .string(name), "message": .string(message)]
  }

  /// Returns all findings about a JWT for an SDK at a time, the most severe first.
  ///
  /// - Parameter other: findings from outside the JWT.
  static func all(
    in jwt: DecodedJWT, for audience: JWTAudience = .messaging, now: Timestamp, besides other: [JWTFinding] = []
  ) -> [JWTFinding] {
    let found = other + audience.findings(in: jwt, now: now)
    let order: [Severity] = [.error, .warning, .note]
    return order.flatMap { severity in found.filter { $0.severity == severity } }
  }
}
