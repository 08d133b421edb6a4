import SDKProtocol

/// The states of an instance in words.
enum StateGuide {
  /// Returns the meaning of a state.
  static func meaning(of state: InstanceState) -> String {
    switch state {
    case .noUser: "Nobody has signed in yet, or the user was deauthorized."
    case .anonymous: "The vendor knows the user only as an anonymous one."
    case .authenticating: "A login or exchange is in progress."
    case .authenticated: "A user is signed in, and tokens can be had."
    case .refreshing:
      "A user is signed in, and the token is being renewed. The present one is served as long as it lives."
    case .reauthNeeded:
      "The credential was refused, and no new one could be had. The identity is kept, its content is locked."
    case .locked: "The vendor does not let the user in, or stored data could not be wiped. No token is given."
    case .loggedOut: "The user has logged out, or was logged out. What was stored for them is wiped."
    case .quarantined: "The stored state does not open. Only admins see the instance, and only its deletion works."
    }
  }

  /// Returns the next step for a person.
  static func next(of state: InstanceState) -> String {
    switch state {
    case .noUser, .loggedOut: "sdkctl login ID"
    case .anonymous: "Nothing, or sdkctl login ID."
    case .authenticating: "Wait: sdkctl wait ID."
    case .authenticated, .refreshing: "sdkctl token ID, sdkctl open ID"
    case .reauthNeeded: "sdkctl show ID has the cause; then sdkctl login ID, or repair the token provider."
    case .locked: "sdkctl show ID has the cause; then sdkctl login ID or sdkctl logout ID."
    case .quarantined: "sdkctl restore, or sdkctl delete ID."
    }
  }
}
