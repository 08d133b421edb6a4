/// The stable name of an error's cause (sdkd-protocol(7)).
public enum Reason: String, Sendable, Codable, CaseIterable {
  case accessDenied, instanceNotFound, instanceExists
  case notAuthenticated, reauthNeeded, locked, noIdentity, userNotAuthorized
  case rotationInterrupted, superseded, epochChanged, wrongKind, identityMismatch, identityChangeRefused
  case ownedByFile, personalDataRefused
  case failedToDecodeJWT, expiredJWT, invalidJWTClaims, invalidChannelKey, invalidIdentifier, weakIdentifier
  case invalidAuthParameters, authenticationSettingsError, invalidName, invalidEmail, invalidAccessToken
  case tokenHasExpired
  case invalidAuth, agentNotAllowed, invalidGrant, invalidClient, externalUserIdHasChanged
  case invalidSharedSecret, invalidAccountKey, forbidden, notFound
  case network, timeout, rateLimited, serverError, badResponse
  case noProvider, providerNotAllowed, providerTimeout, providerFailed, providerOutputInvalid
  case providerTokenForOtherUser, providerDenied, providerBackoff
  case rateLimit, tooManyInFlight, replyTooLarge, tooManyInstances, tooManySubscriptions, storageFull
  case shuttingDown
  case storeUnavailable, keyMissing, instanceQuarantined, invalidConfiguration

  /// Whether the same call may succeed later although nothing is changed.
  public var isRetryable: Bool {
    switch self {
    case .network, .timeout, .rateLimited, .serverError, .badResponse: true
    case .providerTimeout, .providerFailed, .providerBackoff: true
    case .rateLimit, .tooManyInFlight, .shuttingDown, .storeUnavailable: true
    default: false
    }
  }
}
