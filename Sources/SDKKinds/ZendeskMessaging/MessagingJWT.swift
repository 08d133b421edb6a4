import JSONRPC
import JWTRules
import SDKInstances
import SDKProtocol

/// A Messaging JWT, checked without the network.
struct MessagingJWT {
  let externalId: String
  let name: String?
  let email: String?
  let expiresAt: Timestamp?
  let hints: [String]

  /// Reads and checks a JWT.
  ///
  /// - Parameter isStrict: whether to refuse a JWT that the SDK accepts and the vendor refuses.
  /// - Throws: `failedToDecodeJWT`, `invalidJWTClaims`, `expiredJWT`.
  init(_ token: Secret, now: Timestamp, isStrict: Bool) throws(SDKError) {
    guard let jwt = DecodedJWT(token.reveal()), let id = jwt.payload["external_id"], !id.isNull else {
      throw Self.undecodable
    }
    let claims = jwt.payload
    let algorithm = jwt.header["alg"]?.stringValue?.lowercased()
    guard algorithm != "none", algorithm != nil, jwt.isSigned else {
      throw Self.invalid("is not signed; sign it with HS256 and the key's secret.")
    }
    guard let externalId = id.stringValue, TextLimits.isID(externalId), externalId.count <= 255 else {
      throw Self.invalid("has an external_id that is not a text of 1 to 255 characters and \(TextLimits.id) bytes.")
    }
    self.externalId = externalId
    name = claims["name"]?.stringValue
    email = claims["email"]?.stringValue
    guard TextLimits.isName(name ?? ""), TextLimits.isName(email ?? "") else {
      throw Self.invalid("has a name or an email of more than \(TextLimits.name) bytes.")
    }
    if let exp = claims["exp"], !exp.isNull {
      guard let seconds = exp.doubleValue else { throw Self.invalid("has an exp that is not a number of seconds.") }
      expiresAt = Timestamp(secondsSince1970: seconds)
    } else {
      expiresAt = nil
    }
    let findings = MessagingRules.findings(in: jwt, now: now)
    hints = findings.hints
    if isStrict, let finding = findings.first(where: \.isFatal) {
      throw Self.invalid("is refused: \(finding.hint ?? finding.message)")
    }
    if let expiresAt, expiresAt <= now {
      throw SDKError(.local, .expiredJWT, "The JWT has expired. Get a new one from your backend.", hints: hints)
    }
  }

  private static let undecodable = SDKError(
    .local, .failedToDecodeJWT,
    "The JWT provided could not be decoded. It needs three base64url parts and a JSON payload with external_id.")

  private static func invalid(_ what: String) -> SDKError {
    SDKError(.local, .invalidJWTClaims, "The JWT \(what)")
  }
}
