import SDKInstances
import SDKProtocol

/// Authentication settings as an instance stores them, without the access token (the vendor's guide,
/// `SCSAuthenticationSettings`).
struct SalesforceAccount: Sendable, Hashable {
  /// The URL of the organisation's data.
  var instanceURL: String
  /// The token that renews the access token. A rotating one can be used once.
  var refreshToken: Secret?
  /// The connected app, if it is not the instance's own.
  var clientId: String?
  /// The URL of the community that the user belongs to.
  var communityURL: String?
  /// The id of that community.
  var communityId: String?
  /// The URL that identifies the user.
  var identityURL: String?
  /// The digest of the refresh token that the vendor last refused without an explanation.
  var refusedToken: String?

  static let refreshTokenKey = "refresh_token"

  /// Creates an account at this URL.
  init(instanceURL: String) { self.instanceURL = instanceURL }

  /// Reads the account that an instance stored; `nil` when there is none.
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

  /// The values that an instance stores.
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

  /// The user that the identity URL names.
  var user: SalesforceUserID? { identityURL.flatMap { SalesforceUserID(identityURL: $0) } }

  /// The URL for refreshing and revoking tokens, unless a setting gives another.
  var loginURL: String { communityURL ?? instanceURL }
}
