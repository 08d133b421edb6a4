import SDKProtocol

/// The steps that a person can take in each state of an instance.
enum StateGuide {
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
