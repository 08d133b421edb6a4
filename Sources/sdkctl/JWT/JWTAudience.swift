import ArgumentParser
import JSONRPC
import SDKProtocol

/// The SDK that a JWT is for. Each has its own rules.
enum JWTAudience: String, CaseIterable, ExpressibleByArgument {
  case messaging = "zendesk.messaging"
  case support = "zendesk.support"
  case salesforce = "salesforce.chat"
  case chat = "zendesk.chat"
  case edna = "edna.chatcenter"

  /// The short names, as in `sdk-sandbox mint`. The kinds' own names are accepted too.
  private static let short: [String: JWTAudience] = [
    "messaging": .messaging, "support": .support, "salesforce": .salesforce, "chat": .chat, "edna": .edna,
  ]

  init?(argument: String) {
    guard let audience = Self.short[argument] ?? JWTAudience(rawValue: argument) else { return nil }
    self = audience
  }

  /// Returns the findings about a JWT for this SDK at a time.
  func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let times = JWTTimes(jwt.payload)
    switch self {
    case .messaging: return MessagingRules.findings(in: jwt) + times.findings(now: now)
    case .chat: return ChatRules.findings(in: jwt, now: now)
    case .support: return SupportRules.findings(in: jwt) + times.findings(now: now)
    case .salesforce, .edna:
      let note = "The token is opaque to this SDK; only its times are looked at."
      return times.findings(now: now) + [JWTFinding(.note, "opaque", note)]
    }
  }
}

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
