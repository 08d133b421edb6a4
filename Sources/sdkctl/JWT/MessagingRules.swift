import JSONRPC
import SDKProtocol

/// The rules of Zendesk Messaging for the claims of a user's JWT.
enum MessagingRules {
  static func findings(in jwt: DecodedJWT) -> [JWTFinding] {
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
    return found
  }
}

/// The rules of Zendesk Support for the JWT that the customer's endpoint gives to Zendesk.
enum SupportRules {
  static func findings(in jwt: DecodedJWT) -> [JWTFinding] {
    let note = "This JWT goes from the customer's endpoint to Zendesk; support.setIdentity takes an opaque id instead."
    return SharedRules.signature(jwt.header) + SharedRules.person(jwt.payload)
      + [JWTFinding(.note, "endpointOnly", note)]
  }
}
