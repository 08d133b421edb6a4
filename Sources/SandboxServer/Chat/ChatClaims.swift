import Foundation
import JSONRPC

/// The claims of a visitor's JWT, verified by the vendor's rules.
struct ChatClaims: Equatable {
  /// The longest lifetime of a token, and the lifetime of one without `exp`, in seconds.
  static let longest = 420.0
  /// The time that `iat` may lie in the future, in seconds.
  static let tolerance = 120.0

  let externalID: String
  let name: String
  let email: String

  init(_ text: String, secret: String, externalIDMax: Int, now: Date) throws(ChatRefusal) {
    guard let token = SignedToken(text) else { throw .other(status: 400, "failed to parse token") }
    guard token.header["alg"] == "HS256" else {
      throw .other(status: 400, "failed to validate token", details: "signing method is invalid")
    }
    guard token.isSigned(with: secret) else {
      throw .other(status: 400, "failed to validate token", details: "signature is invalid")
    }
    let claims = token.claims
    try Self.checkTimes(claims, now: now.timeIntervalSince1970)
    guard let name = claims["name"]?.stringValue, !name.isEmpty else { throw .nameShouldBeSet }
    guard let email = claims["email"]?.stringValue, Self.isAddress(email) else { throw .emailIsInvalid }
    guard let externalID = claims["external_id"]?.stringValue, !externalID.isEmpty else {
      throw .claims("external_id should be set")
    }
    guard externalID.unicodeScalars.count <= externalIDMax else { throw .claims("external_id is too long") }
    self.externalID = externalID
    self.name = name
    self.email = email
  }

  private static func checkTimes(_ claims: JSON, now: TimeInterval) throws(ChatRefusal) {
    guard let issued = claims["iat"]?.doubleValue else { throw .claims("iat should be set") }
    guard issued <= now + tolerance else { throw .claims("iat is in the future") }
    var expiry = issued + longest
    if let exp = claims.given("exp") {
      guard let exp = exp.doubleValue else { throw .claims("exp is invalid") }
      guard exp <= expiry else { throw .claims("exp is too far in the future") }
      expiry = exp
    }
    guard expiry > now else { throw .hasExpired }
  }

  private static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.contains { $0.isWhitespace }
  }
}
