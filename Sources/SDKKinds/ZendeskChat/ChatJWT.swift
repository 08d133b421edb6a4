import JSONRPC
import JWTKit
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What can be told of a visitor's JWT without the network (`vendors.md` 4.2 and section 6).
struct ChatJWT {
  /// The claims as they stand; they are not trusted before the vendor has accepted the token.
  private struct Claims: JWTPayload {
    let json: JSON

    init(from decoder: any Decoder) throws { json = try JSON(from: decoder) }
    func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
    func verify(using algorithm: some JWTAlgorithm) async throws {}
  }

  let externalId: String
  let name: String
  let email: String
  /// Its end: what it says, or as long after its making as the vendor takes it.
  let expiresAt: Timestamp
  let hints: [String]

  /// The most seconds that a JWT may live, and that one without an end lives.
  static let longest = 420.0
  /// How many seconds its making may lie in the future.
  static let tolerance = 120.0
  /// The seconds before the end of a JWT that is called near.
  static let nearExpiry = 30.0

  /// Reads a JWT.
  ///
  /// - Parameter externalIdMax: the most characters of an `external_id`.
  /// - Throws: `invalidAccessToken`, `tokenHasExpired`, `invalidName`, `invalidEmail`.
  init(_ token: Secret, externalIdMax: Int, now: Timestamp) throws(SDKError) {
    let parsed: (header: JWTHeader, payload: Claims, signature: Data)
    do {
      parsed = try DefaultJWTParser().parse(Array(token.reveal().utf8), as: Claims.self)
    } catch {
      throw Self.invalid("could not be decoded; it needs three base64url parts and a JSON payload.")
    }
    guard case .object(let claims) = parsed.payload.json else {
      throw Self.invalid("has a payload that is not a JSON object.")
    }
    guard let algorithm = parsed.header.alg, algorithm.lowercased() != "none", !parsed.signature.isEmpty else {
      throw Self.invalid("is not signed; sign it with HS256 and the account's shared secret.")
    }
    let findings = Self.findings(header: parsed.header, claims: claims)
    expiresAt = try Self.end(claims, now: now, findings)
    guard let name = claims["name"]?.stringValue, !name.allSatisfy(\.isWhitespace) else {
      throw Self.refusal(.invalidName, "has no name; it must be a text that is not empty.", findings)
    }
    guard let email = claims["email"]?.stringValue, Self.isAddress(email) else {
      throw Self.refusal(.invalidEmail, "has no email that is an address.", findings)
    }
    guard let id = claims["external_id"]?.stringValue, (1...externalIdMax).contains(id.unicodeScalars.count) else {
      throw Self.invalid("has no external_id that is a text of 1 to \(externalIdMax) characters.", findings)
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
      throw refusal(.tokenHasExpired, "has expired; get a new one from the customer's backend.", findings)
    }
    return Timestamp(secondsSince1970: end)
  }

  /// What the vendor would refuse without saying why, or what explains a refusal.
  private static func findings(header: JWTHeader, claims: JSONObject) -> [String] {
    var found: [String] = []
    if header.alg != "HS256" {
      found.append("alg: the header says \(header.alg?.prefix(16) ?? "nothing"); the vendor takes HS256")
    }
    if let type = header.typ, type != "JWT" { found.append("typ: the header says \(type.prefix(16)) instead of JWT") }
    for name in ["iat", "exp"] {
      if let time = claims[name]?.doubleValue, time > 100_000_000_000 {
        found.append("\(name): it looks like milliseconds; it counts seconds")
      }
    }
    if claims["external_id"]?.doubleValue != nil { found.append("external_id: it is a number; write it as a text") }
    return found
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
