package import SDKProtocol

/// The rules of Zendesk Support for the JWT that the customer's endpoint gives to Zendesk.
package enum SupportRules: JWTRules {
  package static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    let note = "This JWT goes from the customer's endpoint to Zendesk; support.setIdentity takes an opaque id instead."
    return SharedRules.signature(jwt.header) + SharedRules.person(jwt.payload)
      + [JWTFinding(.note, "endpointOnly", note)] + JWTTimes(jwt.payload).findings(now: now)
  }
}
