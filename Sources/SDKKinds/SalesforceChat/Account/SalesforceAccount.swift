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
  /// The digests of tokens that the grant had before: the first ones, with which it was set, then the latest.
  private var formerTokens: [String] = []

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
    formerTokens = state["former_tokens"]?.reveal().split(separator: " ").map(String.init) ?? []
  }

  /// The values that an instance stores.
  var state: [String: Secret] {
    var state = ["instance_url": Secret(instanceURL)]
    state[Self.refreshTokenKey] = refreshToken
    let texts = [
      "client_id": clientId, "community_url": communityURL, "community_id": communityId, "identity_url": identityURL,
      "refused_token": refusedToken,
      "former_tokens": formerTokens.isEmpty ? nil : formerTokens.joined(separator: " "),
    ]
    for (key, text) in texts { state[key] = text.map { Secret($0) } }
    return state
  }

  /// The maximum number of former tokens that are remembered, and how many of them are the first ones.
  private static let remembered = (all: 8, first: 2)

  /// Remembers tokens of the grant that a refresh replaces, so that the grant is still known by them.
  mutating func remember(_ tokens: [Secret?]) {
    for token in tokens.compactMap({ $0 }) {
      let digest = TokenID(token).description
      guard !formerTokens.contains(digest) else { continue }
      if formerTokens.count >= Self.remembered.all { formerTokens.remove(at: Self.remembered.first) }
      formerTokens.append(digest)
    }
  }

  /// Returns the keys by which the grant is known: digests of its tokens, past and present. A revocation ends all of
  /// them.
  func sessionKeys(_ access: Secret?) -> Set<Secret> {
    Set((formerTokens + [access, refreshToken].compactMap { $0.map { TokenID($0).description } }).map { Secret($0) })
  }

  /// The user that the identity URL names.
  var user: SalesforceUserID? { identityURL.flatMap { SalesforceUserID(identityURL: $0) } }

  /// The URL for refreshing and revoking tokens, unless a setting gives another.
  var loginURL: String { communityURL ?? instanceURL }
}
