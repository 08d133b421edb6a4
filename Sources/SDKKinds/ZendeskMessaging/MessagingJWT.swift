import JSONRPC
import JWTKit
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What can be told of a Messaging JWT without the network (`vendors.md` 1.4 and section 6).
struct MessagingJWT {
  /// The claims as they stand; they are not trusted before the vendor has accepted the token.
  private struct Claims: JWTPayload {
    let json: JSON

    init(from decoder: any Decoder) throws { json = try JSON(from: decoder) }
    func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
    func verify(using algorithm: some JWTAlgorithm) async throws {}
  }

  let externalId: String
  let name: String?
  let email: String?
  let expiresAt: Timestamp?
  let hints: [String]

  /// The seconds before the end of a JWT that is called near.
  static let nearExpiry = 30.0

  /// Reads a JWT.
  ///
  /// - Parameter isStrict: what the SDK lets pass and the vendor refuses is refused here.
  /// - Throws: `failedToDecodeJWT`, `invalidJWTClaims`, `expiredJWT`.
  init(_ token: Secret, now: Timestamp, isStrict: Bool) throws(SDKError) {
    let parsed: (header: JWTHeader, payload: Claims, signature: Data)
    do {
      parsed = try DefaultJWTParser().parse(Array(token.reveal().utf8), as: Claims.self)
    } catch {
      throw Self.undecodable
    }
    guard case .object(let claims) = parsed.payload.json, let id = claims["external_id"], !id.isNull else {
      throw Self.undecodable
    }
    let algorithm = parsed.header.alg?.lowercased()
    guard algorithm != "none", algorithm != nil, !parsed.signature.isEmpty else {
      throw Self.invalid("is not signed; sign it with HS256 and the key's secret.")
    }
    guard let externalId = id.stringValue, (1...255).contains(externalId.count) else {
      throw Self.invalid("has an external_id that is not a text of 1 to 255 characters.")
    }
    self.externalId = externalId
    name = claims["name"]?.stringValue
    email = claims["email"]?.stringValue
    if let exp = claims["exp"], !exp.isNull {
      guard let seconds = exp.doubleValue else { throw Self.invalid("has an exp that is not a number of seconds.") }
      expiresAt = Timestamp(secondsSince1970: seconds)
    } else {
      expiresAt = nil
    }
    let findings = MessagingLint.findings(header: parsed.header, claims: claims)
    if isStrict, let finding = findings.first(where: \.isFatal) { throw Self.invalid("is refused: \(finding.hint)") }
    if let expiresAt, expiresAt <= now {
      throw SDKError(
        .local, .expiredJWT, "The JWT has expired. Get a new one from the customer's backend.",
        hints: findings.map(\.hint))
    }
    var hints = findings.map(\.hint)
    if let expiresAt, expiresAt - now < Self.nearExpiry { hints.append("nearExpiry") }
    self.hints = hints
  }

  private static let undecodable = SDKError(
    .local, .failedToDecodeJWT,
    "The JWT provided could not be decoded. It needs three base64url parts and a JSON payload with external_id.")

  private static func invalid(_ what: String) -> SDKError {
    SDKError(.local, .invalidJWTClaims, "The JWT \(what)")
  }
}
