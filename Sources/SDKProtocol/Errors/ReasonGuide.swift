public import JSONRPC

/// The explanation of a reason, for the error reference and `sdkctl explain`.
public struct ReasonGuide: Sendable, Hashable {
  /// The origins of errors with this reason, which give their codes.
  public let origins: [SDKError.Origin]
  /// The cause, in one or two sentences.
  public let cause: String
  /// A sentence that an app can show to its user; empty for errors that no user should see.
  public let toShow: String
  /// The next step of the developer or operator.
  public let remedy: String

  init(_ origins: [SDKError.Origin], _ cause: String, show: String = "", _ remedy: String) {
    self.origins = origins
    self.cause = cause
    toShow = show
    self.remedy = remedy
  }
}

extension Reason {
  /// The explanation of the reason.
  public var guide: ReasonGuide {
    switch self {
    case .accessDenied:
      ReasonGuide(
        [.access], "The caller has a role on the instance, but too little for this call, or may not create it.",
        show: "This app may not do that.",
        "Add the caller to the rules of the role that the message names: in the instance's file, or by "
          + "`sdkctl update ID --access-ROLE RULE`, with each rule that `sdkctl show ID` lists, since the option replaces them. "
          + "`sdkctl whoami` shows the roles.")
    case .instanceNotFound:
      ReasonGuide(
        [.missing], "There is no such instance, or the caller has no role on it. The two look the same.",
        show: "The service is not set up.",
        "Check the name: `sdkctl list`. `sdkctl whoami` shows the caller's rights.")
    case .instanceExists:
      ReasonGuide(
        [.existing], "An instance with this id exists already.",
        "Choose another id, or change the instance: `sdkctl update`.")
    case .notAuthenticated:
      ReasonGuide(
        [.state], "Nobody is signed in.",
        show: "Please sign in.",
        "Sign a user in: `sdkctl login ID`.")
    case .reauthNeeded:
      ReasonGuide(
        [.state],
        "The credential has expired, or the vendor refused it, and no new one could be had. The identity is kept, its "
          + "content is locked.",
        show: "Please sign in again.",
        "Sign in again, or repair the token provider or the delegate. `sdkctl show ID` has the cause.")
    case .locked:
      ReasonGuide(
        [.state], "The vendor does not let this user in, or stored data could not be wiped.",
        show: "You can't sign in now. Please contact support.",
        "`sdkctl show ID` has the cause. Another login or a logout unlocks.")
    case .noIdentity:
      ReasonGuide(
        [.state], "No identity has been set.",
        show: "Please sign in.",
        "Set one: `sdkctl login ID`.")
    case .userNotAuthorized:
      ReasonGuide(
        [.state], "The call needs an authorized user, and there is none.",
        show: "Please sign in.",
        "Authorize one: `sdkctl login ID`.")
    case .rotationInterrupted:
      ReasonGuide(
        [.state], "A refresh token that can be used once was spent, and its successor was lost in a crash.",
        show: "Please sign in again.",
        "Sign in again.")
    case .superseded:
      ReasonGuide(
        [.state], "A later login or logout overtook this one. It changed nothing.",
        "Nothing, if the later change was meant. Otherwise do it again.")
    case .epochChanged:
      ReasonGuide(
        [.state], "The user has changed since the given `storageEpoch`. Nothing was written.",
        "Read the user again, and write only what belongs to them.")
    case .wrongKind:
      ReasonGuide(
        [.state], "The method belongs to instances of another kind.",
        "Use the methods of the instance's kind: `sdkctl show ID`.")
    case .identityMismatch:
      ReasonGuide(
        [.state], "The vendor's account takes the other type of identity.",
        show: "The service is not set up correctly.",
        "Set the type of identity that the account is configured for.")
    case .identityChangeRefused:
      ReasonGuide(
        [.state], "Another identity is set, and the call was not to replace it.",
        show: "Somebody else is signed in. Please sign out first.",
        "Log out first, or allow the change with `onChange`.")
    case .ownedByFile:
      ReasonGuide(
        [.state], "A configuration file defines the instance, so a call can't change it.",
        "Change the file, then run `sdkctl reload`.")
    case .personalDataRefused:
      ReasonGuide(
        [.state], "The instance's settings forbid names and e-mail addresses.",
        "Leave name and e-mail out, or change the setting.")
    case .failedToDecodeJWT:
      ReasonGuide(
        [.local], "The text is not a JWT: three parts in base64url, the first two of them JSON objects.",
        show: "Signing in failed.",
        "Check what the backend gives: `sdkctl lint-jwt`.")
    case .expiredJWT:
      ReasonGuide(
        [.local, .vendor], "The JWT has expired, by its `exp` or by the vendor's answer.",
        show: "Please sign in again.",
        "Get a new JWT. Check the clocks: `sdkctl doctor`.")
    case .invalidJWTClaims:
      ReasonGuide(
        [.local], "The JWT's header or claims can't be right, such as a missing `kid` or a wrong `scope`.",
        show: "Signing in failed.",
        "Correct the backend: `sdkctl lint-jwt` names each mistake.")
    case .invalidChannelKey:
      ReasonGuide(
        [.local], "The setting `channel_key` can't be read.",
        show: "The service is not set up correctly.",
        "Copy the key from the vendor's admin pages again.")
    case .invalidIdentifier:
      ReasonGuide(
        [.local], "The identifier is empty, too long, or has characters that are not allowed.",
        show: "Signing in failed.",
        "Correct the identifier.")
    case .weakIdentifier:
      ReasonGuide(
        [.local], "The identifier can be guessed, and the settings forbid that.",
        show: "Signing in failed.",
        "Use a random identifier.")
    case .invalidAuthParameters:
      ReasonGuide(
        [.local], "A setting or a part of the authorization can't be right; `member` names it.",
        show: "The service is not set up correctly.",
        "Correct what `member` names.")
    case .authenticationSettingsError:
      ReasonGuide(
        [.local], "The authentication settings lack a member, or one is wrong; `member` names it.",
        show: "Signing in failed.",
        "Correct what `member` names.")
    case .invalidName:
      ReasonGuide(
        [.local, .vendor], "The name is missing or too long.",
        show: "Please check your name.",
        "Correct the name.")
    case .invalidEmail:
      ReasonGuide(
        [.local, .vendor], "The e-mail address is missing, too long, or not accepted by the vendor.",
        show: "Please check your e-mail address.",
        "Correct the address.")
    case .invalidAccessToken:
      ReasonGuide(
        [.local, .vendor], "The token or JWT can't be used.",
        show: "Signing in failed.",
        "Get a new one from the backend.")
    case .tokenHasExpired:
      ReasonGuide(
        [.local, .vendor], "The token or JWT has expired.",
        show: "Please sign in again.",
        "Get a new one. Check the clocks: `sdkctl doctor`.")
    case .invalidAuth:
      ReasonGuide(
        [.vendor], "The vendor refused the credential.",
        show: "Signing in failed. Please try again.",
        "See `vendorCode`, `vendorDescription` and `hints`. Keys and secrets of the backend must be those of "
          + "the vendor's account.")
    case .agentNotAllowed:
      ReasonGuide(
        [.vendor], "The vendor refuses agents here.",
        show: "Agents can't sign in here.",
        "Sign in as an end user.")
    case .invalidGrant:
      ReasonGuide(
        [.vendor], "The refresh token is invalid, expired or revoked.",
        show: "Please sign in again.",
        "Sign in again.")
    case .invalidClient:
      ReasonGuide(
        [.vendor], "The vendor does not know the client id, or refused its secret.",
        show: "The service is not set up correctly.",
        "Correct client id and secret in the settings.")
    case .externalUserIdHasChanged:
      ReasonGuide(
        [.vendor], "A signed-in visitor can't become another one.",
        show: "Please sign out first.",
        "Log out first: `sdkctl logout ID`.")
    case .invalidSharedSecret:
      ReasonGuide(
        [.vendor], "The JWT was signed with another secret than the account's.",
        show: "Signing in failed.",
        "Use the account's shared secret in the backend.")
    case .invalidAccountKey:
      ReasonGuide(
        [.vendor], "The vendor does not know the account key.",
        show: "The service is not set up correctly.",
        "Correct `account_key` in the settings.")
    case .forbidden:
      ReasonGuide(
        [.vendor], "The vendor does not let this user do that, such as a banned visitor.",
        show: "You can't use this service.",
        "See `vendorCode`.")
    case .notFound:
      ReasonGuide(
        [.vendor, .missing],
        "What the call is about does not exist at the vendor, or there is no push registration with this id.",
        "Check ids and settings: `sdkctl show ID`, `sdkctl push list ID`.")
    case .network:
      ReasonGuide(
        [.unreachable], "The vendor can't be reached: no route, no name, a refused or broken connection.",
        show: "No connection. Trying again.",
        "Check network, DNS and proxy: `sdkctl doctor`.")
    case .timeout:
      ReasonGuide(
        [.unreachable], "The vendor, or work that the call waited for, did not end in time.",
        show: "This takes longer than usual. Trying again.",
        "Try again later. `timeout` in the settings is the limit.")
    case .rateLimited:
      ReasonGuide(
        [.unreachable], "The vendor asks for fewer requests.",
        show: "Please wait a moment.",
        "Wait for `retryAfter`.")
    case .serverError:
      ReasonGuide(
        [.unreachable], "The vendor answered with an error of its own.",
        show: "The service has a problem. Trying again.",
        "Try again later. The vendor's status page may say more.")
    case .badResponse:
      ReasonGuide(
        [.unreachable], "The vendor's answer can't be used.",
        show: "The service has a problem. Trying again.",
        "Check the URLs in the settings. A proxy may answer in the vendor's place.")
    case .noProvider:
      ReasonGuide(
        [.provider], "No delegate is attached and no token provider is configured, or all of them passed.",
        show: "Please sign in again.",
        "Configure a token provider, or attach a delegate.")
    case .providerNotAllowed:
      ReasonGuide(
        [.provider], "The token provider's program may not be run: owner, mode, or `[bridge] allow`.",
        show: "The service is not set up correctly.",
        "`sdkctl doctor` names the file and the remedy.")
    case .providerTimeout:
      ReasonGuide(
        [.provider], "The token provider or delegate did not answer in time, and was ended.",
        show: "This takes longer than usual. Trying again.",
        "Read its log: `sdkctl logs ID`.")
    case .providerFailed:
      ReasonGuide(
        [.provider], "The token provider or delegate failed.",
        show: "The service has a problem. Trying again.",
        "Read its log: `sdkctl logs ID`.")
    case .providerOutputInvalid:
      ReasonGuide(
        [.provider], "What the token provider or delegate answered can't be used.",
        show: "The service is not set up correctly.",
        "Compare its output with sdkd-provider(7).")
    case .providerTokenForOtherUser:
      ReasonGuide(
        [.provider], "The token provider gave the credential of another user. It was not used.",
        show: "Signing in failed.",
        "Correct the provider: it must answer for the user that it is asked about.")
    case .providerDenied:
      ReasonGuide(
        [.provider], "The token provider or delegate denies this user access.",
        show: "You can't use this service any more.",
        "Nothing, if that is meant. Otherwise correct the provider.")
    case .providerBackoff:
      ReasonGuide(
        [.provider],
        "The token provider failed before, and is asked again only after a pause; or no run is free for it.",
        show: "The service has a problem. Trying again.",
        "Wait for `retryAfter`. With the role `control`, `sdkctl refresh ID` tries at once.")
    case .rateLimit:
      ReasonGuide(
        [.limit], "This caller makes too many calls, or has too many connections.",
        "Wait for `retryAfter`. Make fewer calls: subscribe to events in place of polling.")
    case .tooManyInFlight:
      ReasonGuide(
        [.limit], "Too many calls of this connection are in progress. This one was not run.",
        "Wait for answers before sending more.")
    case .replyTooLarge:
      ReasonGuide(
        [.limit], "The result is larger than a reply may be.",
        "Use a smaller `limit`, and read page by page.")
    case .tooManyInstances:
      ReasonGuide(
        [.limit], "The caller has created as many instances as are allowed.",
        "Delete one, or raise `[limits]` or the `max` of the access rule.")
    case .tooManySubscriptions:
      ReasonGuide(
        [.limit], "The caller has as many subscriptions, or the instance as many delegates, as are allowed.",
        "End one that is not needed.")
    case .storageFull:
      ReasonGuide(
        [.limit], "The instance keeps as much as is allowed.",
        "Delete values: `sdkctl storage list ID`.")
    case .shuttingDown:
      ReasonGuide(
        [.limit], "The daemon stops. The call was not run.",
        "Send it again to the next daemon. Clients do so by themselves.")
    case .storeUnavailable:
      ReasonGuide(
        [.store], "The state can't be read or written, such as on a full disk, or the configuration can't be used.",
        show: "The service has a problem.",
        "`sdkctl status` and `sdkctl doctor` say why. Retryable only while it can heal by itself.")
    case .keyMissing:
      ReasonGuide(
        [.store], "The key that the state is sealed with is missing, or is another one. Nothing was overwritten.",
        show: "The service has a problem.",
        "Bring the key back: `sdkctl key init --recovery`.")
    case .instanceQuarantined:
      ReasonGuide(
        [.store], "The stored state of this instance does not open. Other instances are not affected.",
        show: "The service has a problem.",
        "Restore a backup, `sdkctl restore`, or delete the instance.")
    case .invalidConfiguration:
      ReasonGuide(
        [.store], "The configuration has mistakes. The former one stays in force.",
        "`sdkctl config check` lists them with file and line.")
    }
  }
}

extension Reason: DescribedEnumeration {
  public static let jsonSchema = schema(named: "Reason")

  public var meaning: String { guide.cause }
}
