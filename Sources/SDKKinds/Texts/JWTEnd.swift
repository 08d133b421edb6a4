import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol

/// The expiry of credentials that may be JWTs, for kinds whose credentials are otherwise opaque.
enum JWTEnd {
  /// Returns the time in the claim `exp`; `nil` for a token that is not a JWT or has no expiry.
  ///
  /// The signature is not checked. A scheme may precede the JWT, as in `Bearer eyJ…`.
  static func of(_ token: Secret) -> Timestamp? {
    guard let word = token.reveal().split(separator: " ").last,
      let seconds = DecodedJWT(String(word))?.payload["exp"]?.doubleValue, seconds <= Self.latest
    else { return nil }
    return Timestamp(secondsSince1970: max(0, seconds))
  }

  /// The end of the year 9999. A later expiry counts as none.
  private static let latest = 253_402_300_799.0
}

extension BridgeAnswer {
  /// Returns the JWT in the owner's response, checked by the kind's `check`.
  ///
  /// - Throws: `providerOutputInvalid` with the fault of the JWT.
  func checkedJWT(
    _ check: (Secret) throws(SDKError) -> CheckedCredential
  ) throws(SDKError) -> CheckedCredential {
    guard let token else {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider's answer has no token; it must give a JWT.")
    }
    do throws(SDKError) {
      var checked = try check(token)
      // The expiry that the provider states can only shorten the JWT's own.
      if let expiresAt { checked.credential.expiresAt = min(expiresAt, checked.credential.expiresAt ?? expiresAt) }
      return checked
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider gave a JWT that can't be right. \(error.message)",
        hints: error.hints)
    }
  }
}
