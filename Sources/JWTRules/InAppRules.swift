import JSONRPC
package import SDKProtocol

/// The rules of Salesforce Messaging for In-App and Web for a user's identity JWT.
package enum InAppRules: JWTRules {
  package static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    signature(jwt.header) + claims(jwt.payload) + JWTTimes(jwt.payload).findings(now: now)
  }

  private static func signature(_ header: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    func algorithm(_ name: String, _ message: String, said: String) {
      let hint = "alg: the header says \(said.clipped(toUTF8: 16)); the vendor takes RS256 and RS512"
      found.append(.init(.error, name, message, hint: hint, isFatal: true))
    }
    switch header["alg"]?.stringValue {
    case "RS256"?, "RS512"?: break
    case let other?: algorithm("algNotRSA", "alg is \(other); RS256 and RS512 are accepted.", said: other)
    case nil: algorithm("algMissing", "The header has no alg; it must be RS256 or RS512.", said: "nothing")
    }
    if (header["kid"]?.stringValue ?? "").isEmpty {
      found.append(
        .init(
          .error, "kidMissing", "The header has no kid; it must name a key of the vendor's keyset.",
          hint: "kid: the header has none; it must name a key of the vendor's keyset", isFatal: true))
    }
    return found
  }

  private static func claims(_ payload: JSONObject) -> [JWTFinding] {
    var found: [JWTFinding] = []
    for (claim, meaning) in [("sub", "the user's id in your system"), ("iss", "the issuer entered with the keyset")]
    where (payload[claim]?.stringValue ?? "").isEmpty {
      found.append(.init(.error, "\(claim)Missing", "There is no \(claim) that is a text; it must be \(meaning)."))
    }
    if payload["sub"]?.stringValue?.contains(where: \.isWhitespace) == true {
      found.append(
        .init(
          .warning, "subWhiteSpace", "sub has white space, which can make it another user's.",
          hint: "sub: it has white space, which the vendor may read as another user"))
    }
    if payload["iat"]?.doubleValue == nil {
      found.append(
        .init(
          .warning, "iatMissing", "There is no iat; the vendor recommends it.",
          hint: "iat: it is missing; when the JWT was made", isFatal: true))
    }
    // Without an exp, the shared rules have a warning only.
    if payload["exp"] == nil { found.append(.init(.error, "expRequired", "There is no exp; it is required.")) }
    return found
  }
}
