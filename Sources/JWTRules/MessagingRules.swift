import JSONRPC
package import SDKProtocol

/// The rules of Zendesk Messaging for a user's JWT. The vendor answers "Invalid JWT" to all faults.
package enum MessagingRules: JWTRules {
  package static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    signature(jwt.header) + scope(jwt.payload) + externalId(jwt.payload) + email(jwt.payload)
      + JWTTimes(jwt.payload).findings(now: now)
  }

  private static func signature(_ header: JSONObject) -> [JWTFinding] {
    let found = SharedRules.signature(header)
    guard header["kid"]?.stringValue?.isEmpty ?? true else { return found }
    return found + [
      .init(
        .warning, "kidMissing", "The header has no kid; the vendor finds the signing key by it.",
        hint: "kid: the header has none; it must be the id of the signing key", isFatal: true)
    ]
  }

  private static func scope(_ payload: JSONObject) -> [JWTFinding] {
    switch payload["scope"] {
    case .string("user")?: return []
    case .string("appUser")?:
      return [
        .init(
          .note, "scopeLegacy", "scope is appUser, the legacy form; newer vendors' APIs want user.",
          hint: "scope: appUser is the old form; write user")
      ]
    case nil:
      return [
        .init(
          .warning, "scopeMissing", "There is no scope; it should be user.",
          hint: "scope: it is missing; it must be user", isFatal: true)
      ]
    case let other?:
      let shown = other.stringValue ?? JSONWriter.text(of: other)
      return [
        .init(
          .warning, "scopeNotUser", "scope is \(JSONWriter.text(of: other)); it should be user.",
          hint: "scope: \(shown.clipped(toUTF8: 32)) must be user", isFatal: true)
      ]
    }
  }

  private static func externalId(_ payload: JSONObject) -> [JWTFinding] {
    let (id, finding) = SharedRules.externalId(payload, most: 255)
    guard let id else { return finding.map { [$0] } ?? [] }
    var found: [JWTFinding] = []
    if id.utf8.count > 256 {
      found.append(.init(.error, "externalIdTooLong", "external_id is longer than 256 bytes."))
    } else if id.unicodeScalars.count > 200 {
      found.append(.init(.warning, "externalIdLong", "external_id is longer than 200 characters, too long for some."))
    }
    if id.first?.isWhitespace == true || id.last?.isWhitespace == true {
      found.append(
        .init(
          .warning, "externalIdSpaces", "external_id begins or ends with white space, which makes another user.",
          hint: "external_id: it begins or ends with white space"))
    }
    return found
  }

  /// Returns the finding about an e-mail address that the vendor does not count as an identity of the user.
  private static func email(_ payload: JSONObject) -> [JWTFinding] {
    guard payload["email"]?.stringValue?.isEmpty == false else { return [] }
    let why = "the vendor identifies nobody by an email that is not verified, which makes duplicate users."
    switch payload["email_verified"] {
    case .bool?: return []
    case nil, .null?: return [.init(.warning, "emailNotVerified", "There is an email without email_verified: \(why)")]
    case let other?:
      return [
        .init(
          .warning, "emailVerifiedNotBoolean",
          "email_verified is a \(other.typeName); write true without quotes: \(why)")
      ]
    }
  }
}
