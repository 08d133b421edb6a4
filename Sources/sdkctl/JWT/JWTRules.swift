import JSONRPC
import SDKProtocol

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

/// The rules of Zendesk Messaging for the claims of a user's JWT.
enum MessagingRules {
  static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    var found = SharedRules.signature(jwt.header)
    if (jwt.header["kid"]?.stringValue ?? "").isEmpty {
      found.append(.init(.warning, "kidMissing", "The header has no kid; the vendor finds the signing key by it."))
    }
    switch jwt.payload["scope"] {
    case .string("user")?: break
    case .string("appUser")?:
      found.append(.init(.note, "scopeLegacy", "scope is appUser, the legacy form; newer vendors' APIs want user."))
    case nil: found.append(.init(.warning, "scopeMissing", "There is no scope; it should be user."))
    case let other?:
      found.append(.init(.warning, "scopeNotUser", "scope is \(JSONWriter.text(of: other)); it should be user."))
    }
    let (id, finding) = SharedRules.externalId(jwt.payload, most: 255)
    if let finding { found.append(finding) }
    if let id, id.utf8.count > 256 {
      found.append(.init(.error, "externalIdTooLong", "external_id is longer than 256 bytes."))
    } else if let id, id.unicodeScalars.count > 200 {
      found.append(.init(.warning, "externalIdLong", "external_id is longer than 200 characters, too long for some."))
    }
    return found + email(jwt.payload) + JWTTimes(jwt.payload).findings(now: now)
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

/// The rules of Zendesk Support for the JWT that the customer's endpoint gives to Zendesk.
enum SupportRules {
  static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let note = "This JWT goes from the customer's endpoint to Zendesk; support.setIdentity takes an opaque id instead."
    return SharedRules.signature(jwt.header) + SharedRules.person(jwt.payload)
      + [JWTFinding(.note, "endpointOnly", note)] + JWTTimes(jwt.payload).findings(now: now)
  }
}

/// The rules for a JWT of an SDK that does not read its tokens.
enum OpaqueRules {
  static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let note = "The token is opaque to this SDK; only its times are looked at."
    return JWTTimes(jwt.payload).findings(now: now) + [JWTFinding(.note, "opaque", note)]
  }
}
