import SDKInstances
import SDKProtocol

/// Authentication settings as an instance keeps them, but for the access token (seed 002, `SCSAuthenticationSettings`).
struct SalesforceAccount: Sendable, Hashable {
  /// Where the organisation's data is.
  var instanceURL: String
  /// Renews the access token; rotating ones are good for one use.
  var refreshToken: Secret?
  /// The connected app, where it is not the instance's own.
  var clientId: String?
  /// The community that the user belongs to.
  var communityURL: String?
  /// Its id.
  var communityId: String?
  /// Names the user.
  var identityURL: String?
  /// The digest of the refresh token that the vendor last refused without a word of why.
  var refusedToken: String?

  static let refreshTokenKey = "refresh_token"

  /// An account at this instance.
  init(instanceURL: String) { self.instanceURL = instanceURL }

  /// What an instance keeps; `nil` when it keeps nothing.
  init?(_ state: [String: Secret]) {
    guard let instance = state["instance_url"] else { return nil }
    instanceURL = instance.reveal()
    refreshToken = state[Self.refreshTokenKey]
    clientId = state["client_id"]?.reveal()
    communityURL = state["community_url"]?.reveal()
    communityId = state["community_id"]?.reveal()
    identityURL = state["identity_url"]?.reveal()
    refusedToken = state["refused_token"]?.reveal()
  }

  /// As the instance keeps it.
  var state: [String: Secret] {
    var state = ["instance_url": Secret(instanceURL)]
    state[Self.refreshTokenKey] = refreshToken
    let texts = [
      "client_id": clientId, "community_url": communityURL, "community_id": communityId, "identity_url": identityURL,
      "refused_token": refusedToken,
    ]
    for (key, text) in texts { state[key] = text.map { Secret($0) } }
    return state
  }

  /// The user, if anything names them.
  var user: SalesforceUserID? { identityURL.flatMap { SalesforceUserID(identityURL: $0) } }

  /// Where tokens are refreshed and revoked unless a setting says it.
  var loginURL: String { communityURL ?? instanceURL }
}
