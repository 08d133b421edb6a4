import Foundation
import JSONRPC

extension MessagingBackend {
  /// A token whose signature and claims were verified.
  struct VerifiedToken {
    let externalID: String
    let claims: JSON
  }

  /// Returns the user `id` if the call may act for that user: `Bearer` with a JWT or `Basic` with the session token.
  ///
  /// The status of a refusal is 401 for an invalid credential, 404 for an unknown user and 403 for another user's
  /// credential.
  mutating func authorized(_ call: BackendCall, for id: String) throws(MessagingRefusal) -> MessagingUser {
    let words = (call.authorization ?? "").split(separator: " ").map(String.init)
    guard words.count == 2 else { throw .invalidAuth("no Authorization header, or none of two words") }
    let own: (MessagingUser) -> Bool
    switch words[0].lowercased() {
    case "bearer":
      let externalID = try verify(words[1], now: call.now).externalID
      own = { $0.externalID?.hasSameBytes(as: externalID) == true }
    case "basic":
      let userID = try sessionUser(words[1])
      own = { $0.id == userID }
    default: throw .invalidAuth("Authorization is neither Bearer nor Basic")
    }
    guard let user = users[id] else { throw .notFound("user") }
    guard own(user) else { throw .forbidden("the credential is another user's") }
    return user
  }

  /// Verifies a JWT by the vendor's rules and records that it was used.
  mutating func verify(_ text: String, now: Date) throws(MessagingRefusal) -> VerifiedToken {
    guard let token = SignedToken(text) else { throw .invalidAuth("not a JWT") }
    guard token.header["alg"] == "HS256" else { throw .invalidAuth("alg is not HS256") }
    guard let kid = token.header["kid"]?.stringValue else { throw .invalidAuth("no kid in the header") }
    guard let secret = signingKeys.secrets[kid] else { throw .invalidAuth("unknown kid \(kid)") }
    guard token.isSigned(with: secret) else { throw .invalidAuth("wrong signature for kid \(kid)") }
    let externalID = try Self.externalID(token.claims)
    if let exp = token.claims.given("exp") {
      guard let exp = exp.doubleValue else { throw .invalidAuth("exp is not a number") }
      guard exp > now.timeIntervalSince1970 else { throw .invalidAuth("expired: exp \(exp) has passed") }
    }
    let digest = HS256.digest(of: text)
    if revocations.isRevoked(digest, issuedAt: token.claims["iat"]?.doubleValue, of: externalID) {
      throw .invalidAuth("revoked: issued before /_revoke")
    }
    revocations.note(digest, of: externalID)
    return VerifiedToken(externalID: externalID, claims: token.claims)
  }

  /// Returns `external_id` for the scope `user`, or the legacy `userId` for the scope `appUser`.
  private static func externalID(_ claims: JSON) throws(MessagingRefusal) -> String {
    let name: String
    switch claims["scope"]?.stringValue {
    case "user": name = "external_id"
    case "appUser": name = "userId"
    default: throw .invalidAuth("scope is not user")
    }
    guard let id = claims[name]?.stringValue else { throw .invalidAuth("\(name) is missing or not a string") }
    guard (1...255).contains(id.unicodeScalars.count) else { throw .invalidAuth("\(name) is not 1 to 255 characters") }
    return id
  }

  private func sessionUser(_ credential: String) throws(MessagingRefusal) -> String {
    guard let bytes = Data(base64Encoded: credential), let text = String(bytes: bytes, encoding: .utf8),
      let colon = text.firstIndex(of: ":")
    else { throw .invalidAuth("Basic is not base64 of appUserId:sessionToken") }
    let id = String(text[..<colon])
    try checkSession(of: id, String(text[text.index(after: colon)...]))
    return id
  }

  /// Throws unless this is a current session token of the anonymous user.
  func checkSession(of id: String, _ sessionToken: String) throws(MessagingRefusal) {
    if endedSessions.contains(sessionToken) { throw .invalidAuth("the session token was revoked by a login") }
    guard let user = users[id], user.sessionToken == sessionToken || user.furtherSessions.contains(sessionToken) else {
      throw .invalidAuth("no such session token")
    }
  }
}
