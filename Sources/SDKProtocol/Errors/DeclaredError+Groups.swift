/// The errors that several methods share.
extension DeclaredError {
  /// The error of callers without the required role.
  public static let accessDenied = DeclaredError("accessDenied", .access, [.accessDenied])
  /// The error for an instance that is missing or hidden.
  public static let instanceNotFound = DeclaredError("instanceNotFound", .missing, [.instanceNotFound])
  /// The errors of calls that need the state while it, or the instance's part of it, can't be used.
  public static let store = DeclaredError("store", .store, [.storeUnavailable, .keyMissing, .instanceQuarantined])

  /// The errors of requests to a vendor that can't be reached or does not respond properly.
  public static let unreachable = DeclaredError(
    "unreachable", .unreachable, [.network, .timeout, .rateLimited, .serverError, .badResponse])
  /// The error of a change that waited too long for a logout in progress.
  public static let logoutInProgress = DeclaredError("logoutInProgress", .unreachable, [.timeout])
  /// The errors of questions to delegates and the token provider.
  public static let provider = DeclaredError(
    "provider", .provider,
    [
      .noProvider, .providerNotAllowed, .providerTimeout, .providerFailed, .providerOutputInvalid,
      .providerTokenForOtherUser, .providerDenied, .providerBackoff,
    ])
  /// The errors of requests that the vendor refused, for methods of all kinds.
  public static let vendor = DeclaredError(
    "vendor", .vendor,
    [
      .invalidAuth, .expiredJWT, .agentNotAllowed, .invalidGrant, .invalidClient, .externalUserIdHasChanged,
      .invalidSharedSecret, .invalidAccountKey, .invalidAccessToken, .invalidName, .invalidEmail, .tokenHasExpired,
      .forbidden, .notFound,
    ])
  /// The errors of an instance that has no credential to issue in its current state.
  public static let credentialState = DeclaredError(
    "credentialState", .state,
    [
      .notAuthenticated, .reauthNeeded, .locked, .noIdentity, .userNotAuthorized, .rotationInterrupted, .superseded,
      .wrongKind,
    ])
  /// The errors of credentials and settings that the daemon itself refuses during a renewal, without asking the vendor.
  public static let credential = DeclaredError(
    "credential", .local,
    [.expiredJWT, .tokenHasExpired, .invalidAuthParameters, .authenticationSettingsError])
  /// The errors of instance settings that the daemon itself refuses, without asking the vendor.
  public static let settings = DeclaredError("settings", .local, [.invalidAuthParameters, .invalidChannelKey])
  /// The error of a method that the instance's kind does not have.
  public static let wrongKind = DeclaredError("wrongKind", .state, [.wrongKind])
  /// The errors of an instance that can't process a login, a logout or a method of its kind in its current state.
  public static let identityState = DeclaredError("identityState", .state, [.wrongKind, .superseded])
  /// The errors of `identityState`, and that of a missing user, for methods that need a user.
  public static let userState = DeclaredError("userState", .state, [.wrongKind, .superseded, .userNotAuthorized])
  /// The error of a storage call whose expected storage epoch is no longer current, and those of `wipeState`.
  public static let storageState = DeclaredError("storageState", .state, [.locked, .epochChanged, .superseded])
  /// The errors of reading data that should have been wiped but could not be, and of a superseded login that the call
  /// waited for.
  public static let wipeState = DeclaredError("wipeState", .state, [.locked, .superseded])
  /// The error of an instance that exceeds its storage limits.
  public static let storageFull = DeclaredError("storageFull", .limit, [.storageFull])

  /// The errors of an accepted login, for the calls on its connection that wait for it.
  public static let ofAcceptedLogins: [DeclaredError] = [
    DeclaredError("superseded", .state, [.superseded]), .vendor, .unreachable,
  ]
  /// The errors of methods that get a credential, renewing it if need be.
  public static let ofCredentials: [DeclaredError] = [.credentialState, .credential, .vendor, .unreachable, .provider]
}
