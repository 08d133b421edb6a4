import JSONRPC
package import SDKProtocol

/// The rules of one vendor's SDK for a JWT, which need neither its secret nor the network.
package protocol JWTRules {
  /// Returns the findings about a JWT as of `now`.
  static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding]
}

/// The rules for a JWT of an SDK that does not read its tokens.
package enum OpaqueRules: JWTRules {
  package static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let note = "The token is opaque to this SDK; only its times are looked at."
    return JWTTimes(jwt.payload).findings(now: now) + [JWTFinding(.note, "opaque", note)]
  }
}

/// The rules of Zendesk Support for the JWT that the customer's endpoint gives to Zendesk.
package enum SupportRules: JWTRules {
  package static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let note = "This JWT goes from the customer's endpoint to Zendesk; support.setIdentity takes an opaque id instead."
    return SharedRules.signature(jwt.header) + SharedRules.person(jwt.payload)
      + [JWTFinding(.note, "endpointOnly", note)] + JWTTimes(jwt.payload).findings(now: now)
  }
}

/// Rules that several SDKs share.
enum SharedRules {
  /// Returns the problems of the algorithm and the type of a JWT that is signed with a shared secret.
  static func signature(_ header: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    func algorithm(_ name: String, _ message: String, said: String) {
      let hint = "alg: the header says \(said.clipped(toUTF8: 16)); the vendor takes HS256"
      found.append(.init(.error, name, message, hint: hint, isFatal: true))
    }
    switch header["alg"]?.stringValue {
    case "HS256"?: break
    case let other?: algorithm("algNotHS256", "alg is \(other); only HS256 is accepted.", said: other)
    case nil: algorithm("algMissing", "The header has no alg; it must be HS256.", said: "nothing")
    }
    if let type = header["typ"]?.stringValue, type != "JWT" {
      found.append(
        .init(
          .warning, "typNotJWT", "typ is \(type); it should be JWT.",
          hint: "typ: the header says \(type.clipped(toUTF8: 16)) instead of JWT"))
    }
    return found
  }

  /// Returns the problems of the name and the e-mail address, which the vendor requires.
  static func person(_ payload: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    if (payload["name"]?.stringValue ?? "").allSatisfy(\.isWhitespace) {
      found.append(.init(.error, "nameMissing", "There is no name; it must be a text that is not empty."))
    }
    if !isAddress(payload["email"]?.stringValue ?? "") {
      found.append(.init(.error, "emailMissing", "There is no email that is an address."))
    }
    return found
  }

  /// Whether a text looks like an e-mail address.
  static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.contains { $0.isWhitespace }
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
      (
        nil,
        .init(
          .error, "externalIdNotString", "external_id is a \(other.typeName); it must be a string.",
          hint: other.doubleValue == nil ? nil : "external_id: it is a number; write it as a text")
      )
    }
  }
}
