import JSONRPC
import JWTRules
import SDKInstances
import SDKProtocol

/// A visitor's JWT, checked without the network.
struct ChatJWT {
  let externalId: String
  let name: String
  let email: String
  /// The expiry: the claim `exp`, or `ChatRules.longest` seconds after `iat`.
  let expiresAt: Timestamp
  let hints: [String]

  /// Reads and checks a JWT.
  ///
  /// - Parameter externalIdMax: the maximum number of characters of an `external_id`.
  /// - Throws: `invalidAccessToken`, `tokenHasExpired`, `invalidName`, `invalidEmail`.
  init(_ token: Secret, externalIdMax: Int, now: Timestamp) throws(SDKError) {
    guard let jwt = DecodedJWT(token.reveal()) else {
      throw Self.invalid(
        "could not be decoded; it needs three base64url parts, of which the first two are JSON objects.")
    }
    let claims = jwt.payload
    guard let algorithm = jwt.header["alg"]?.stringValue, algorithm.lowercased() != "none", jwt.isSigned else {
      throw Self.invalid("is not signed; sign it with HS256 and the account's shared secret.")
    }
    let findings = ChatRules.findings(in: jwt, now: now).hints
    expiresAt = try Self.end(claims, now: now, findings)
    guard let name = claims["name"]?.stringValue, !name.allSatisfy(\.isWhitespace) else {
      throw Self.refusal(.invalidName, "has no name; it must be a text that is not empty.", findings)
    }
    guard TextLimits.isName(name) else {
      throw Self.refusal(.invalidName, "has a name of more than \(TextLimits.name) bytes.", findings)
    }
    guard let email = claims["email"]?.stringValue, TextLimits.isName(email), ChatRules.isAddress(email) else {
      throw Self.refusal(
        .invalidEmail, "has no email that is an address of at most \(TextLimits.name) bytes.", findings)
    }
    let bytes = max(TextLimits.id, externalIdMax)
    guard let id = claims["external_id"]?.stringValue, (1...bytes).contains(id.utf8.count),
      id.unicodeScalars.count <= externalIdMax
    else {
      throw Self.invalid(
        "has no external_id that is a text of 1 to \(externalIdMax) characters and \(bytes) bytes.", findings)
    }
    guard !ChatRules.hasControls(id) else {
      throw Self.invalid("has an external_id with control characters.", findings)
    }
    self.name = name
    self.email = email
    externalId = id
    hints = findings
  }

  private static func end(_ claims: JSONObject, now: Timestamp, _ findings: [String]) throws(SDKError) -> Timestamp {
    guard let issued = claims["iat"]?.doubleValue else {
      throw invalid("has no iat that is a number of seconds.", findings)
    }
    guard issued <= now.secondsSince1970 + ChatRules.tolerance else {
      throw invalid("has an iat more than two minutes in the future; check the clocks.", findings)
    }
    var end = issued + ChatRules.longest
    if let exp = claims["exp"], !exp.isNull {
      guard let exp = exp.doubleValue else { throw invalid("has an exp that is not a number of seconds.", findings) }
      guard exp <= end else { throw invalid("has an exp more than seven minutes after its iat.", findings) }
      end = exp
    }
    guard end > now.secondsSince1970 else {
      throw refusal(.tokenHasExpired, "has expired; get a new one from your backend.", findings)
    }
    return Timestamp(secondsSince1970: end)
  }

  private static func invalid(_ what: String, _ hints: [String] = []) -> SDKError {
    refusal(.invalidAccessToken, what, hints)
  }

  private static func refusal(_ reason: Reason, _ what: String, _ hints: [String]) -> SDKError {
    SDKError(.local, reason, "The JWT \(what)", hints: hints)
  }
}
