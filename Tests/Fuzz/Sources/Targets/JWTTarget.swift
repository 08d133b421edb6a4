import JSONRPC
import JWTRules
import SDKProtocol

@testable import SDKKinds
@testable import StateStore

extension FuzzTarget {
  /// JWTs and their claims, as each kind reads them. Two parts are the header and the claims as JSON; any other input
  /// is the token itself.
  static let jwt = FuzzTarget("jwt", maximumLength: 8 << 10) { input in
    let token = Secret(token(input))
    if let jwt = DecodedJWT(token.reveal()) {
      require(DecodedJWT(token.reveal()) == jwt, "A JWT is read differently each time.")
      for rules in [SupportRules.self, OpaqueRules.self] as [any JWTRules.Type] {
        require(rules.findings(in: jwt, now: Clock.now).allSatisfy { !$0.message.isEmpty }, "A finding has no message.")
      }
    }
    for isStrict in [false, true] {
      guard let jwt = outcome({ () throws(SDKError) in try MessagingJWT(token, now: Clock.now, isStrict: isStrict) })
      else {
        continue
      }
      check(id: jwt.externalId, jwt.name, jwt.email, jwt.expiresAt, jwt.hints)
    }
    if let jwt = outcome({ () throws(SDKError) in try ChatJWT(token, externalIdMax: 255, now: Clock.now) }) {
      check(id: jwt.externalId, jwt.name, jwt.email, jwt.expiresAt, jwt.hints)
    }
    if let end = JWTEnd.of(token) { check(end) }
    if let auth = outcome({ () throws(SDKError) in
      try EdnaAuth().answered(["token": .string(token.reveal())], now: Clock.now)
    }) {
      require(EdnaAuth(stored: auth.stored) == auth, "Chat Center's proof is another one after storing.")
      require(auth.end.map { $0 > Clock.now } ?? true, "An expired JWT is taken.")
    }
  }

  private static func token(_ input: Input) -> String {
    let parts = input.parts
    guard parts.count == 2 else { return input.text }
    return "\(Base64URL.encode(Array(parts[0]))).\(Base64URL.encode(Array(parts[1]))).c2lnbmF0dXJl"
  }

  private static func outcome<T>(_ body: () throws(SDKError) -> T) -> T? {
    do throws(SDKError) {
      return try body()
    } catch {
      Check.error(error)
      return nil
    }
  }

  private static func check(id: String, _ name: String?, _ email: String?, _ end: Timestamp?, _ hints: [String]) {
    require((1...TextLimits.id).contains(id.utf8.count), "An external id has \(id.utf8.count) bytes.")
    require(TextLimits.isName(name ?? "") && TextLimits.isName(email ?? ""), "A name or e-mail is too long.")
    require(hints.allSatisfy { $0.utf8.count <= 512 }, "A hint is too long.")
    guard let end else { return }
    check(end)
    let lifetime = end - Clock.now
    require(lifetime > 0, "An expired JWT is taken.")
    let shown = JSONNumber((lifetime * 1000).rounded(.down) / 1000).double ?? 0
    require(
      abs(shown - lifetime) <= max(0.001, lifetime * 1e-9), "A JWT that ends in \(lifetime) s has the ttl \(shown).")
  }

  private static func check(_ time: Timestamp) {
    require(Timestamp(time.description) != nil, "A time can't be read back: \(time).")
  }
}
