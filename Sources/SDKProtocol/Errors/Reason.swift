public import JSONRPC

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

/// The stable name of an error of JSON-RPC itself, which any message can get (sdkd-protocol(7)).
public enum ProtocolReason: String, Sendable, DescribedEnumeration {
  case parseError, invalidRequest, frameTooLarge, methodNotFound, invalidParams, internalError, cancelled

  public static let jsonSchema = schema(named: "ProtocolReason")

  public var meaning: String {
    switch self {
    case .parseError: "The message is not JSON."
    case .invalidRequest:
      "The message is not a request of JSON-RPC 2.0, its id is in use, or it is beyond a limit of the parser."
    case .frameTooLarge: "The message has more bytes than are accepted. The connection ends."
    case .methodNotFound: "There is no such method."
    case .invalidParams: "A param is unknown, missing or wrong; `member` has its name."
    case .internalError: "A fault of the daemon. The call may have been run."
    case .cancelled: "The call was cancelled before anything happened."
    }
  }
}
