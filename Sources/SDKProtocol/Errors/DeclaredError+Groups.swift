/// The errors that several methods share.
extension DeclaredError {
  /// The errors of callers with too little a role.
  public static let accessDenied = DeclaredError("accessDenied", .access, [.accessDenied])
  /// The error for an instance that is missing or hidden.
  public static let instanceNotFound = DeclaredError("instanceNotFound", .missing, [.instanceNotFound])
  /// The errors of calls that need the state.
  public static let store = DeclaredError("store", .store, [.storeUnavailable, .keyMissing, .instanceQuarantined])

  /// The errors of requests to the vendor.
  public static let unreachable = DeclaredError(
    "unreachable", .unreachable, [.network, .timeout, .rateLimited, .serverError, .badResponse])
  /// The error of a change that waits for a logout in progress, and for too long.
  public static let logoutInProgress = DeclaredError("logoutInProgress", .unreachable, [.timeout])
  /// The errors of questions to delegates and the token provider.
  public static let provider = DeclaredError(
    "provider", .provider,
    [
      .noProvider, .providerNotAllowed, .providerTimeout, .providerFailed, .providerOutputInvalid,
      .providerTokenForOtherUser, .providerDenied, .providerBackoff,
    ])
  /// The vendors' refusals, for methods of all kinds.
  public static let vendor = DeclaredError(
    "vendor", .vendor,
    [
      .invalidAuth, .expiredJWT, .agentNotAllowed, .invalidGrant, .invalidClient, .externalUserIdHasChanged,
      .invalidSharedSecret, .invalidAccountKey, .invalidAccessToken, .invalidName, .invalidEmail, .tokenHasExpired,
      .forbidden, .notFound,
    ])
  /// The states in which an instance has no credential to give.
  public static let credentialState = DeclaredError(
    "credentialState", .state,
    [
      .notAuthenticated, .reauthNeeded, .locked, .noIdentity, .userNotAuthorized, .rotationInterrupted, .superseded,
      .wrongKind,
    ])
  /// The local refusals of what a renewal would use.
  public static let credential = DeclaredError(
    "credential", .local,
    [.expiredJWT, .tokenHasExpired, .invalidAuthParameters, .authenticationSettingsError])
  /// The local refusals of an instance's settings.
  public static let settings = DeclaredError("settings", .local, [.invalidAuthParameters, .invalidChannelKey])
  /// The refusal of a method of another kind.
  public static let wrongKind = DeclaredError("wrongKind", .state, [.wrongKind])
  /// The states in which an instance does not take a login, logout or change of its kind.
  public static let identityState = DeclaredError("identityState", .state, [.wrongKind, .superseded])
  /// The same, for methods that need a user.
  public static let userState = DeclaredError("userState", .state, [.wrongKind, .superseded, .userNotAuthorized])
  /// The refusal of another user's storage.
  public static let storageState = DeclaredError("storageState", .state, [.epochChanged])
  /// The errors of an instance that stores too much.
  public static let storageFull = DeclaredError("storageFull", .limit, [.storageFull])

  /// The errors of methods that get a credential, renewing it if need be.
  public static let ofCredentials: [DeclaredError] = [.credentialState, .credential, .vendor, .unreachable, .provider]
}
