import Foundation
import JSONRPC

/// The signing secrets of an account by key id; at most ten, as the vendor documents.
struct SigningKeys: Sendable {
  private(set) var secrets: [String: String]

  static let most = 10

  init(_ secrets: [String: String]) {
    self.secrets = secrets
  }

  /// Adds or replaces a key. With `nil` removes it.
  mutating func set(_ kid: String, to secret: String?) throws(ControlMistake) {
    if secret != nil, secrets[kid] == nil, secrets.count >= Self.most {
      throw ControlMistake("kid", "an account has at most \(Self.most) signing keys; remove one first")
    }
    secrets[kid] = secret
  }

  /// The keys as JSON: `[{"kid":…,"secret":…}]`, sorted by id.
  var tree: JSON {
    .array(secrets.sorted { $0.key < $1.key }.map { ["kid": .string($0.key), "secret": .string($0.value)] })
  }
}

/// The parts of a JWT, not yet verified.
struct SignedToken: Sendable {
  let header: JSON
  let claims: JSON
  let signature: Data
  /// The signed text: the first two parts with their dot.
  let input: String

  /// Parses a token; `nil` unless the text is three parts of base64url, the first two of them JSON objects.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3,
      let header = HS256.bytes(base64URL: parts[0]).flatMap({ JSON(parsing: $0) }), header.members != nil,
      let claims = HS256.bytes(base64URL: parts[1]).flatMap({ JSON(parsing: $0) }), claims.members != nil,
      let signature = HS256.bytes(base64URL: parts[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    self.input = "\(parts[0]).\(parts[1])"
  }

  func isSigned(with secret: String) -> Bool {
    HS256.isValid(signature, of: input, secret: secret)
  }
}

/// The tokens that `POST /_revoke` has revoked.
///
/// A token is revoked if the sandbox had received it before the revocation, or if its `iat` lies in an earlier second.
/// Any other token counts as new: one not received before, without `iat` or with an `iat` of the same second.
struct TokenRevocations: Sendable {
  private var seen: [String: [String]] = [:]
  private var refused: [String: Set<String>] = [:]
  private var revokedAt: [String: TimeInterval] = [:]

  /// Records that the user has sent this token.
  mutating func note(_ digest: String, of externalID: String) {
    var digests = seen[externalID] ?? []
    guard !digests.contains(digest), !digests.isEmpty || seen.count < SandboxLimits.users else { return }
    if digests.count >= SandboxLimits.tokensPerUser { digests.removeFirst() }
    digests.append(digest)
    seen[externalID] = digests
  }

  /// Revokes the tokens that the user has so far.
  mutating func revoke(_ externalID: String, at now: Date) throws(ControlMistake) {
    guard revokedAt[externalID] != nil || revokedAt.count < SandboxLimits.users else {
      throw ControlMistake("externalId", "at most \(SandboxLimits.users) users can be revoked")
    }
    refused[externalID, default: []].formUnion(seen.removeValue(forKey: externalID) ?? [])
    revokedAt[externalID] = now.timeIntervalSince1970.rounded(.down)
  }

  func isRevoked(_ digest: String, issuedAt: Double?, of externalID: String) -> Bool {
    if refused[externalID]?.contains(digest) == true { return true }
    guard let revokedAt = revokedAt[externalID], let issuedAt else { return false }
    return issuedAt < revokedAt
  }

  /// The revocations as JSON: `{externalId: epochSeconds of the revocation}`.
  var tree: JSON { .object(revokedAt.mapValues { .number($0) }) }
}
