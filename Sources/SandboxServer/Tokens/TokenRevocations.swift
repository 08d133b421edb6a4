import Foundation

/// Which tokens `POST /_revoke` has made worthless.
///
/// A token counts as issued before the revocation if the sandbox had seen it by then, or if its `iat` lies in an
/// earlier second. One that is neither (not seen, and no `iat`, or one in the very second) is taken for new.
struct TokenRevocations: Sendable {
  private var seen: [String: [String]] = [:]
  private var refused: [String: Set<String>] = [:]
  private var revokedAt: [String: TimeInterval] = [:]

  /// Remembers that the user has shown this token.
  mutating func note(_ digest: String, of externalID: String) {
    var digests = seen[externalID] ?? []
    guard !digests.contains(digest), !digests.isEmpty || seen.count < SandboxLimits.users else { return }
    if digests.count >= SandboxLimits.tokensPerUser { digests.removeFirst() }
    digests.append(digest)
    seen[externalID] = digests
  }

  /// From now on the user's tokens so far are refused.
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

  /// `{externalId: epochSeconds of the revocation}`.
  var tree: JSONTree { .object(revokedAt.mapValues { .number($0) }) }
}
