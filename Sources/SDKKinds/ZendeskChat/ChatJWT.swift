import JSONRPC
import SDKInstances
import SDKProtocol

/// A visitor's JWT, checked without the network.
struct ChatJWT {
  let externalId: String
  let name: String
  let email: String
  /// The expiry: the claim `exp`, or `longest` seconds after `iat`.
  let expiresAt: Timestamp
  let hints: [String]

  /// The maximum lifetime in seconds, and the lifetime of a JWT without `exp`.
  static let longest = 420.0
  /// The maximum number of seconds that `iat` may lie in the future.
  static let tolerance = 120.0
  /// The seconds before the expiry during which the hint `nearExpiry` is given.
  static let nearExpiry = 30.0

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
    let findings = Self.findings(jwt)
    expiresAt = try Self.end(claims, now: now, findings)
    guard let name = claims["name"]?.stringValue, !name.allSatisfy(\.isWhitespace) else {
      throw Self.refusal(.invalidName, "has no name; it must be a text that is not empty.", findings)
    }
    guard TextLimits.isName(name) else {
      throw Self.refusal(.invalidName, "has a name of more than \(TextLimits.name) bytes.", findings)
    }
    guard let email = claims["email"]?.stringValue, TextLimits.isName(email), Self.isAddress(email) else {
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
    guard !id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw Self.invalid("has an external_id with control characters.", findings)
    }
    self.name = name
    self.email = email
    externalId = id
    hints = findings + (expiresAt - now < Self.nearExpiry ? ["nearExpiry"] : [])
  }

  private static func end(_ claims: JSONObject, now: Timestamp, _ findings: [String]) throws(SDKError) -> Timestamp {
    guard let issued = claims["iat"]?.doubleValue else {
      throw invalid("has no iat that is a number of seconds.", findings)
    }
    guard issued <= now.secondsSince1970 + tolerance else {
      throw invalid("has an iat more than two minutes in the future; check the clocks.", findings)
    }
    var end = issued + longest
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

  /// Returns hints on faults that the vendor refuses without an explanation, or that explain a refusal.
  private static func findings(_ jwt: DecodedJWT) -> [String] {
    let claims = jwt.payload
    var found: [String] = []
    let algorithm = jwt.header["alg"]?.stringValue
    if algorithm != "HS256" {
      found.append("alg: the header says \(algorithm?.clipped(toUTF8: 16) ?? "nothing"); the vendor takes HS256")
    }
    if let type = jwt.header["typ"]?.stringValue, type != "JWT" {
      found.append("typ: the header says \(type.clipped(toUTF8: 16)) instead of JWT")
    }
    for name in ["iat", "exp"] {
      if let time = claims[name]?.doubleValue, time > 100_000_000_000 {
        found.append("\(name): it looks like milliseconds; it counts seconds")
      }
      if case .number(let number)? = claims[name], number.text.utf8.contains(where: { ".eE".utf8.contains($0) }) {
        found.append("\(name): it is written as a decimal number; write whole seconds")
      }
    }
    if let id = claims["external_id"]?.stringValue, !id.utf8.allSatisfy(isAdvised) {
      found.append("external_id: it should have letters, digits and -_.@: only")
    }
    if claims["external_id"]?.doubleValue != nil { found.append("external_id: it is a number; write it as a text") }
    return found
  }

  private static func isAdvised(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-_.@:".utf8.contains(byte)
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.contains { $0.isWhitespace }
  }

  private static func invalid(_ what: String, _ hints: [String] = []) -> SDKError {
    refusal(.invalidAccessToken, what, hints)
  }

  private static func refusal(_ reason: Reason, _ what: String, _ hints: [String]) -> SDKError {
    SDKError(.local, reason, "The JWT \(what)", hints: hints)
  }
}
