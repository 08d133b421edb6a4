import Foundation
import JSONRPC

/// The keysets of a user verification configuration: the keys with which customers sign identity JWTs, by issuer.
struct InAppKeysets: Sendable {
  /// The state of the URL from which the vendor fetches a keyset.
  enum Source: String, CaseIterable {
    case up, down, stale
  }

  /// The keys of an issuer.
  private struct Keyset: Sendable {
    /// Public RSA keys in PEM, by key id.
    var keys: [String: String] = [:]
    /// The keys that are published at the keyset's URL, and those that the vendor has fetched; `nil` without a URL.
    var published: [String: String]?
    var fetched: [String: String]?
    var source = Source.up
    var isActive = true
  }

  private var keysets = [
    DemoAccounts.inAppIssuer: Keyset(keys: [DemoAccounts.inAppKid: demoKey])
  ]

  private static let demoKey = RSASignature.publicKey(of: DemoAccounts.inAppPrivateKey)

  /// Adds a key in PEM to the demo keyset. With `nil` removes it.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    guard let secret else {
      keysets[DemoAccounts.inAppIssuer]?.keys[kid] = nil
      return
    }
    guard RSASignature.isPublicKey(secret) else { throw ControlMistake("secret", "must be a public RSA key in PEM") }
    let known = keysets[DemoAccounts.inAppIssuer]?.keys ?? [:]
    guard known[kid] != nil || known.count < SandboxLimits.record else {
      throw ControlMistake("kid", "at most \(SandboxLimits.record) keys")
    }
    keysets[DemoAccounts.inAppIssuer]?.keys[kid] = secret
  }

  /// Handles `POST /_keyset`: `issuer` with a key to upload (`jwk`), or with the keys at its URL (`jwks`) and the state
  /// of that URL (`url`). `active` joins the keyset to the channel.
  mutating func set(_ body: JSON?) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(body, known: ["active", "issuer", "jwk", "jwks", "url"])
    let issuer = try members.requiredText("issuer")
    guard keysets[issuer] != nil || keysets.count < SandboxLimits.record else {
      throw ControlMistake("issuer", "at most \(SandboxLimits.record) keysets")
    }
    var keyset = keysets[issuer] ?? Keyset()
    if let jwk = members.value("jwk") {
      let key = try Self.key(jwk, member: "jwk")
      // An uploaded key without a certificate is taken, and never verifies anything.
      keyset.keys[key.kid] = jwk["x5c"]?.arrayValue?.isEmpty == false ? key.pem : ""
    }
    if let jwks = members.value("jwks") {
      guard let all = jwks["keys"]?.arrayValue else { throw ControlMistake("jwks", "must have keys") }
      keyset.published = [:]
      for jwk in all.prefix(SandboxLimits.record) {
        let key = try Self.key(jwk, member: "jwks")
        keyset.published?[key.kid] = key.pem
      }
    }
    if let source = try members.choice("url", as: Source.self) { keyset.source = source }
    if let isActive = try members.optionalFlag("active") { keyset.isActive = isActive }
    keysets[issuer] = keyset
    return tree
  }

  private static func key(_ jwk: JSON, member: String) throws(ControlMistake) -> (kid: String, pem: String) {
    guard let kid = jwk["kid"]?.stringValue, jwk["kty"] == "RSA",
      let pem = RSASignature.publicKey(modulus: jwk["n"]?.stringValue, exponent: jwk["e"]?.stringValue)
    else {
      throw ControlMistake(member, "must have kty RSA, kid, n and e of a key of at least 2048 bits")
    }
    return (kid, pem)
  }

  /// Returns the `sub` of an identity JWT whose signature, key, issuer and expiry are right.
  mutating func subject(of text: String, now: Date) throws(InAppRefusal) -> String {
    guard let token = SignedToken(text) else { throw .identity("it is no JWT") }
    guard let algorithm = token.header["alg"]?.stringValue, ["RS256", "RS512"].contains(algorithm) else {
      throw .identity("alg is not RS256 or RS512")
    }
    guard let issuer = token.claims["iss"]?.stringValue, keysets[issuer]?.isActive == true else {
      throw .identity("no active keyset of this iss")
    }
    guard let kid = token.header["kid"]?.stringValue, let key = key(kid, of: issuer) else {
      throw .identity("unknown kid, or no x5c")
    }
    guard RSASignature.isValid(token.signature, of: token.input, algorithm: algorithm, key: key) else {
      throw .identity("the signature is wrong")
    }
    guard let end = token.claims["exp"]?.doubleValue else { throw .identity("no exp") }
    guard end > now.timeIntervalSince1970 else { throw .expired }
    guard let subject = token.claims["sub"]?.stringValue, !subject.isEmpty else { throw .identity("no sub") }
    return subject
  }

  /// Returns a key in PEM. Fetches the keyset from its URL unless that is down, or answers that nothing has changed.
  private mutating func key(_ kid: String, of issuer: String) -> String? {
    guard var keyset = keysets[issuer] else { return nil }
    if keyset.source == .up || keyset.source == .stale && keyset.fetched == nil { keyset.fetched = keyset.published }
    if keyset.source == .down { keyset.fetched = nil }
    keysets[issuer] = keyset
    return keyset.keys[kid] ?? keyset.fetched?[kid]
  }

  var tree: JSON {
    let demo = keysets[DemoAccounts.inAppIssuer]?.keys ?? [:]
    return [
      "issuer": .string(DemoAccounts.inAppIssuer),
      "keyset": .array(
        demo.sorted { $0.key < $1.key }.map { ["kid": .string($0.key), "publicKey": .string($0.value)] }),
      "issuers": .array(keysets.keys.sorted().map(JSON.string)),
    ]
  }
}
