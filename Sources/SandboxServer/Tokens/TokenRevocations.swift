import Foundation

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
  var tree: JSONTree { .object(revokedAt.mapValues { .number($0) }) }
}
