public import JSONRPC

/// The type of an event (sdkd-protocol(7)).
public enum EventType: String, Sendable, Codable, DescribedEnumeration {
  case userLoggedIn, userLoggedOut, loginSuperseded, logoutFailed, authenticationFailed, tokenRefreshed, refreshFailed
  case anonymousUserCreated, fellBackToAnonymous, userMerged, identityChanged, identityWiped, settingsUpdated
  case networkError
  case pushRegistered, pushUnregistered, pushOrphaned
  case delegateAttached, delegateDetached, breakerOpened, breakerClosed
  case instanceCreated, instanceUpdated, instanceDeleted

  public static let jsonSchema = schema(named: "EventType")

  public var meaning: String {
    switch self {
    case .userLoggedIn: "The vendor has accepted a login, an exchange or an authorization."
    case .userLoggedOut: "The user is gone, and what was stored for them is wiped."
    case .loginSuperseded: "An accepted login ended, because a later call asked for something else."
    case .logoutFailed: "The vendor could not be told of a logout; everything is kept."
    case .authenticationFailed: "A login was refused, or no recovery helped; a new credential is needed."
    case .tokenRefreshed: "The credential was renewed."
    case .refreshFailed: "A renewal failed; the present credential stays in use while it lives."
    case .anonymousUserCreated: "A call that needs a user has created an anonymous one at the vendor."
    case .fellBackToAnonymous: "Authentication failed, and the visitor continues as an anonymous one."
    case .userMerged: "The vendor has merged two users into one."
    case .identityChanged: "An identity was set."
    case .identityWiped: "What was stored for the identity was destroyed; comes before the next user's login."
    case .settingsUpdated: "Authentication settings were set, or forgotten."
    case .networkError: "The vendor can't be reached or answers badly; at most one a minute while it lasts."
    case .pushRegistered: "A device was registered for push messages."
    case .pushUnregistered: "A registration for push messages has ended."
    case .pushOrphaned: "A registration stays at the vendor although its user is gone."
    case .delegateAttached: "A connection answers for the instance now."
    case .delegateDetached: "A connection answers no more for the instance."
    case .breakerOpened: "The token provider failed too often and is left alone for a while."
    case .breakerClosed: "The token provider answers again."
    case .instanceCreated: "The instance was made."
    case .instanceUpdated: "Settings, provider, access or labels were changed."
    case .instanceDeleted: "The instance was deleted, with all that it stored."
    }
  }
}
