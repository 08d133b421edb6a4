import JSONRPC
package import SDKProtocol

/// The rules of Zendesk Chat for a visitor's JWT.
package enum ChatRules: JWTRules {
  /// The longest lifetime of a JWT in seconds, and the lifetime of one without `exp`.
  package static let longest = 420.0
  /// The seconds that `iat` may lie in the future.
  package static let tolerance = 120.0

  package static func findings(in jwt: DecodedJWT, now: Timestamp) -> [JWTFinding] {
    SharedRules.signature(jwt.header) + SharedRules.person(jwt.payload) + externalId(jwt.payload)
      + times(jwt.payload, now: now)
  }

  /// Whether a text looks like an e-mail address, as the vendor requires one.
  package static func isAddress(_ text: String) -> Bool { SharedRules.isAddress(text) }

  /// Whether the vendor refuses an `external_id` because of its characters.
  package static func hasControls(_ id: String) -> Bool {
    id.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  private static func externalId(_ payload: JSONObject) -> [JWTFinding] {
    let (id, finding) = SharedRules.externalId(payload, most: 200)
    guard let id else { return finding.map { [$0] } ?? [] }
    if hasControls(id) { return [.init(.error, "externalIdControl", "external_id has control characters.")] }
    guard !id.utf8.allSatisfy(isAdvised) else { return [] }
    return [
      .init(
        .warning, "externalIdUnwise", "external_id should have letters, digits and -_.@: only.",
        hint: "external_id: it should have letters, digits and -_.@: only")
    ]
  }

  private static func isAdvised(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-_.@:".utf8.contains(byte)
    }
  }

  private static func times(_ payload: JSONObject, now: Timestamp) -> [JWTFinding] {
    let times = JWTTimes(payload)
    var found = ["iat", "exp"].flatMap { [times.unreadable($0), times.decimal($0)].compactMap(\.self) }
    guard let issued = payload["iat"]?.doubleValue else {
      if payload["iat"] == nil { found.append(.init(.error, "iatMissing", "There is no iat; it is required.")) }
      return found
    }
    if issued - now.secondsSince1970 > tolerance {
      found.append(.init(.error, "iatInFuture", "iat lies more than two minutes in the future; a clock is wrong."))
    }
    var end = issued + longest
    if let exp = payload["exp"]?.doubleValue {
      if exp > end { found.append(.init(.error, "longLifetime", "exp is more than seven minutes after iat.")) }
      end = min(exp, end)
    } else if payload["exp"] == nil {
      found.append(.init(.note, "expMissing", "There is no exp; it ends seven minutes after iat."))
    }
    let left = end - now.secondsSince1970
    if left <= 0 {
      found.append(.init(.error, "tokenHasExpired", "The JWT has expired, \(Elapsed.text(seconds: -left)) ago."))
    } else if left < JWTTimes.hinted {
      found.append(JWTTimes.nearExpiry(left))
    }
    return found
  }
}
