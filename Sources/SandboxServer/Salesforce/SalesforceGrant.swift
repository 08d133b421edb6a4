import Foundation

/// A user's approval of a connected app: the refresh token and what came of it.
struct SalesforceGrant: Sendable {
  let id: String
  let user: String
  let clientID: String
  /// Whether each refresh brings a new refresh token.
  let rotates: Bool
  /// Lifetime of its access tokens in seconds.
  let ttl: Double
  /// The one that is good now; `nil` for a grant that never had one, or has ended.
  var refreshToken: String?
  /// How many refreshes succeeded.
  var refreshes = 0
  /// How often a refresh token came that was spent already.
  var spentUses = 0
  /// Why no refresh succeeds any more.
  var ended: String?

  /// An access token.
  struct Access: Sendable {
    let grant: String
    let expires: Date
    /// The instance that takes it; `nil` is the organisation's own address.
    let instance: String?
    var isRevoked = false
  }

  /// As `GET /_state` shows it.
  var tree: JSONTree {
    .of([
      "id": .string(id), "user": .string(user), "clientId": .string(clientID), "rotating": .bool(rotates),
      "ttl": .number(ttl), "refreshToken": .optional(refreshToken), "refreshes": .number(Double(refreshes)),
      "spentUses": .number(Double(spentUses)), "ended": .optional(ended),
    ])
  }
}
