import JSONRPC
import JWTRules
import SDKInstances
import SDKProtocol

/// An identity JWT, checked without the network.
struct MessagingInAppJWT {
  /// The claim `sub`: the user's id at the customer.
  let subject: String
  let issuer: String
  let expiresAt: Timestamp
  let hints: [String]

  /// The end of the year 9999.
  private static let latest = 253_402_300_799.0

  /// Reads and checks a JWT.
  ///
  /// - Throws: `failedToDecodeJWT`, `invalidJWTClaims`, `expiredJWT`.
  init(_ token: Secret, settings: MessagingInAppSettings, now: Timestamp) throws(SDKError) {
    guard token.reveal().utf8.count <= TextLimits.token, let jwt = DecodedJWT(token.reveal()) else {
      throw SDKError(
        .local, .failedToDecodeJWT,
        "The identity token could not be decoded. It must be a JWT: three base64url parts, of which two are JSON.")
    }
    guard let subject = jwt.payload["sub"]?.stringValue, TextLimits.isID(subject) else {
      throw Self.invalid("has no sub of 1 to \(TextLimits.id) bytes; it is the user's id in your system.")
    }
    guard let issuer = jwt.payload["iss"]?.stringValue, TextLimits.isName(issuer), !issuer.isEmpty else {
      throw Self.invalid("has no iss; it must be the issuer that is entered with the keyset.")
    }
    guard let exp = jwt.payload["exp"]?.doubleValue, (0...Self.latest).contains(exp) else {
      throw Self.invalid("has no exp that is a number of seconds.")
    }
    self.subject = subject
    self.issuer = issuer
    expiresAt = Timestamp(secondsSince1970: exp)
    let findings = InAppRules.findings(in: jwt, now: now) + Self.issuerFinding(issuer, settings)
    hints = findings.hints
    if settings.strictJWT == true, let finding = findings.first(where: \.isFatal) {
      throw Self.invalid("is refused: \(finding.hint ?? finding.message)")
    }
    guard expiresAt > now else {
      throw SDKError(.local, .expiredJWT, "The JWT has expired. Get a new one from your backend.", hints: hints)
    }
  }

  /// Returns the finding about an issuer that is not the one of the settings.
  private static func issuerFinding(_ issuer: String, _ settings: MessagingInAppSettings) -> [JWTFinding] {
    guard let expected = settings.identityIssuer, !issuer.hasSameBytes(as: expected) else { return [] }
    let hint = "iss: it is \(issuer.clipped(toUTF8: 64)), and identity_issuer is another one"
    return [.init(.error, "issOther", "iss is not the identity_issuer of the settings.", hint: hint, isFatal: true)]
  }

  private static func invalid(_ what: String) -> SDKError { SDKError(.local, .invalidJWTClaims, "The JWT \(what)") }
}

/// What the vendor's access token says about itself. Nothing is granted on its strength: its signature is not checked.
struct MessagingInAppClaims {
  /// The vendor's name of the user, such as `v2/iamessage/AUTH/CONFIG/uid:alice`; `nil` if it can't be read.
  let subject: String?
  /// The vendor's id of the client.
  let clientId: String?
  let expiresAt: Timestamp?

  init(_ token: Secret) {
    let claims = DecodedJWT(token.reveal())?.payload
    func id(_ name: String) -> String? { claims?[name]?.stringValue.flatMap { TextLimits.isID($0) ? $0 : nil } }
    subject = id("sub")
    clientId = id("clientId")
    expiresAt = JWTEnd.of(token)
  }

  /// The user's id at the customer, as the vendor writes it: what follows `uid:`.
  var userId: String? {
    guard let subject, let mark = subject.firstRange(of: "uid:") else { return nil }
    let id = subject[mark.upperBound...]
    return id.isEmpty ? nil : String(id)
  }
}
