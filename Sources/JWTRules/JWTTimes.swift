import JSONRPC
import SDKProtocol

/// The time claims of a JWT.
struct JWTTimes {
  /// The remaining seconds below which an answer has the hint `nearExpiry`.
  static let hinted: Double = 30
  private static let near: Double = 60
  private static let skew: Double = 120
  private static let longest: Double = 86_400

  private let claims: JSONObject

  /// Creates the times of these claims.
  init(_ claims: JSONObject) { self.claims = claims }

  /// Returns the findings about the times, as of `now`.
  func findings(now: Timestamp) -> [JWTFinding] {
    ["exp", "iat", "nbf"].compactMap(unreadable) + end(now) + begin(now) + lifetime
  }

  /// Returns a warning if a claim is written as a decimal number, which some vendors refuse.
  func decimal(_ claim: String) -> JWTFinding? {
    guard case .number(let number)? = claims[claim], number.text.utf8.contains(where: { ".eE".utf8.contains($0) })
    else { return nil }
    return JWTFinding(
      .warning, "\(claim)Decimal", "\(claim) is written as a decimal number; write whole seconds.",
      hint: "\(claim): it is written as a decimal number; write whole seconds")
  }

  /// Returns an error if a claim is not a number, or looks like milliseconds.
  func unreadable(_ claim: String) -> JWTFinding? {
    guard let value = claims[claim] else { return nil }
    guard let seconds = value.doubleValue else {
      return JWTFinding(.error, "\(claim)NotNumber", "\(claim) is a \(value.typeName); it must be seconds since 1970.")
    }
    guard seconds > 100_000_000_000 else { return nil }
    return JWTFinding(
      .error, "\(claim)Milliseconds", "\(claim) looks like milliseconds; it must be seconds since 1970.",
      hint: "\(claim): it looks like milliseconds; it counts seconds")
  }

  private func end(_ now: Timestamp) -> [JWTFinding] {
    guard claims["exp"] != nil else {
      return [
        JWTFinding(
          .warning, "expMissing", "There is no exp: nobody knows when to renew it.",
          hint: "exp: it is missing; a short life is advised")
      ]
    }
    guard let seconds = claims["exp"]?.doubleValue else { return [] }
    let left = seconds - now.secondsSince1970
    if left <= 0 {
      return [JWTFinding(.error, "expiredJWT", "The JWT has expired, \(Elapsed.text(seconds: -left)) ago.")]
    }
    guard left < Self.near else { return [] }
    return [Self.nearExpiry(left)]
  }

  /// Returns the finding about a JWT that ends in a few seconds.
  static func nearExpiry(_ left: Double) -> JWTFinding {
    JWTFinding(
      .warning, "nearExpiry", "It expires in \(Elapsed.text(seconds: left)).", hint: left < hinted ? "nearExpiry" : nil)
  }

  private func begin(_ now: Timestamp) -> [JWTFinding] {
    var found: [JWTFinding] = []
    if let issued = claims["iat"]?.doubleValue, issued - now.secondsSince1970 > Self.skew {
      found.append(JWTFinding(.warning, "iatInFuture", "iat lies in the future; a clock is wrong."))
    }
    if let begin = claims["nbf"]?.doubleValue, begin > now.secondsSince1970 {
      found.append(JWTFinding(.error, "notYetValid", "nbf lies in the future: it is not valid yet."))
    }
    return found
  }

  private var lifetime: [JWTFinding] {
    guard let end = claims["exp"]?.doubleValue, let begin = claims["iat"]?.doubleValue, unreadable("exp") == nil
    else { return [] }
    let length = end - begin
    if length <= 0 { return [JWTFinding(.error, "noLifetime", "exp is not after iat.")] }
    let text = Elapsed.text(seconds: length)
    if length > Self.longest {
      return [
        JWTFinding(
          .warning, "longLifetime", "It lives for \(text); who finds it can use it that long.",
          hint: "exp: the JWT lives longer than a day; a short life is advised")
      ]
    }
    return [JWTFinding(.note, "lifetime", "It lives for \(text).")]
  }
}
