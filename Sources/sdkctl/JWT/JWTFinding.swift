import JSONRPC
import SDKProtocol

/// Something about a JWT that will, or may, be refused.
struct JWTFinding: Hashable {
  /// How bad it is.
  enum Severity: String {
    /// It will be refused.
    case error
    /// It may be refused, or soon.
    case warning
    /// Good to know.
    case note
  }

  let severity: Severity
  /// The stable name.
  let name: String
  /// One sentence.
  let message: String

  init(_ severity: Severity, _ name: String, _ message: String) {
    self.severity = severity
    self.name = name
    self.message = message
  }

  /// The finding for programs.
  var json: JSON {
    ["severity": .string(severity.rawValue), "name": .string(name), "message": .string(message)]
  }

  /// Returns everything about a JWT for an SDK at a time, the worst first.
  static func all(in jwt: DecodedJWT, for audience: JWTAudience = .messaging, now: Timestamp) -> [JWTFinding] {
    let found = audience.findings(in: jwt, now: now)
    let order: [Severity] = [.error, .warning, .note]
    return order.flatMap { severity in found.filter { $0.severity == severity } }
  }
}
