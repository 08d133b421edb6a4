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

/// Rules that several SDKs share.
enum SharedRules {
  /// Returns the problems of the algorithm and the type of a JWT that is signed with a shared secret.
  static func signature(_ header: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    switch header["alg"]?.stringValue {
    case "HS256"?: break
    case let other?: found.append(.init(.error, "algNotHS256", "alg is \(other); only HS256 is accepted."))
    case nil: found.append(.init(.error, "algMissing", "The header has no alg; it must be HS256."))
    }
    if let type = header["typ"]?.stringValue, type.uppercased() != "JWT" {
      found.append(.init(.warning, "typNotJWT", "typ is \(type); it should be JWT."))
    }
    return found
  }

  /// Returns the problems of the name and the e-mail address, which the vendor requires.
  static func person(_ payload: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    if (payload["name"]?.stringValue ?? "").allSatisfy(\.isWhitespace) {
      found.append(.init(.error, "nameMissing", "There is no name; it must be a text that is not empty."))
    }
    let parts = (payload["email"]?.stringValue ?? "").split(separator: "@", omittingEmptySubsequences: false)
    if parts.count != 2 || parts.contains(where: { $0.isEmpty || $0.contains { $0.isWhitespace } }) {
      found.append(.init(.error, "emailMissing", "There is no email that is an address."))
    }
    return found
  }

  /// Returns the `external_id` for further checks, or the finding why it is unusable.
  static func externalId(_ payload: JSONObject, most: Int) -> (id: String?, finding: JWTFinding?) {
    switch payload["external_id"] {
    case nil: (nil, .init(.error, "externalIdMissing", "There is no external_id."))
    case .string(let id)? where id.isEmpty: (nil, .init(.error, "externalIdEmpty", "external_id is empty."))
    case .string(let id)? where id.unicodeScalars.count > most:
      (nil, .init(.error, "externalIdTooLong", "external_id is longer than \(most) characters."))
    case .string(let id)?: (id, nil)
    case let other?:
      (nil, .init(.error, "externalIdNotString", "external_id is a \(other.typeName); it must be a string."))
    }
  }
}
