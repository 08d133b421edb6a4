import JSONRPC
import SDKProtocol

/// The end of a credential that may be a JWT, for kinds whose credentials are otherwise opaque.
enum JWTEnd {
  /// Returns the time in the claim `exp`, or `nil` for a token that is no JWT or names no end.
  ///
  /// The signature is not checked. A scheme may precede the JWT, as in `Bearer eyJ…`.
  static func of(_ token: Secret) -> Timestamp? {
    guard let word = token.reveal().split(separator: " ").last,
      let seconds = DecodedJWT(String(word))?.payload["exp"]?.doubleValue, seconds <= Self.latest
    else { return nil }
    return Timestamp(secondsSince1970: max(0, seconds))
  }

  /// The end of the year 9999; later is as good as never.
  private static let latest = 253_402_300_799.0
}
