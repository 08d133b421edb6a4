/// A journal message with its own entry in the message catalog, apart from audit records. A case with the name of an
/// `EventType` reports that event.
public enum JournalMessage: String, Sendable, CaseIterable {
  /// The daemon serves calls.
  case ready
  /// The daemon runs, but every call that needs its state or configuration fails.
  case degraded
  /// The configuration contains a mistake.
  case configurationMistake
  /// A reload applied the configuration on disk.
  case reloaded
  /// A reload was refused and changed nothing.
  case reloadRefused
  /// A part of the daemon does not respond, so no keep-alive is sent to the service manager.
  case watchdogSilent
  /// The disk that holds the state does not respond.
  case diskSilent
  /// The disk that holds the state responds again.
  case diskAnswers
  /// A change could not be written to the state.
  case storeFails
  /// The state can be written again.
  case storeWrites
  /// The database was damaged and was replaced by a backup.
  case stateRepaired
  /// The state differs from what the daemon last wrote: it is older, or instances were added or removed outside the
  /// daemon.
  case stateNoticed
  /// A backup of the state failed.
  case backupFailed
  /// The stored rows of an instance cannot be opened, so the instance is quarantined.
  case instanceQuarantined
  /// A call ended with an unexpected error.
  case internalError
  /// The daemon exited because of an error.
  case daemonFailed
  /// A user was logged in.
  case userLoggedIn
  /// A user was logged out.
  case userLoggedOut
  /// A login was refused, or the recovery from a refused credential failed.
  case authenticationFailed
  /// A token was renewed.
  case tokenRefreshed
  /// A token could not be renewed.
  case refreshFailed
  /// The vendor cannot be reached.
  case networkError
  /// A logout failed.
  case logoutFailed
  /// A visitor continues as an anonymous one, because no credential was accepted.
  case fellBackToAnonymous
  /// A token provider failed repeatedly, so it is not run for a while.
  case breakerOpened
  /// A token provider may be run again without a delay.
  case breakerClosed

  /// Creates the message of an event; `nil` for events without a message of their own.
  public init?(_ event: EventType) { self.init(rawValue: event.rawValue) }

  /// The `MESSAGE_ID` of the message in the journal and its catalog.
  public var id: String {
    switch self {
    case .ready: "6513270e269e4d37b2a74de452e6b438"
    case .degraded: "6018366cf65847a79ed34fe53a096533"
    case .configurationMistake: "4462ebfc5f914ef09cfbac6e7687a66e"
    case .reloaded: "7b89296c6dcb4c5088577eb1924770d3"
    case .reloadRefused: "db5b5fab8f4d4e279da1494c73cf256d"
    case .watchdogSilent: "87751d4ca8504e2c84dcda6a797d76de"
    case .diskSilent: "e8d79f49af6d414c8a6f188a424e617b"
    case .diskAnswers: "c15521b1b3dc450a9daa37e51b591d75"
    case .storeFails: "8575062102fb4d4fb57fbc5af71a1bfc"
    case .storeWrites: "48f165d57b0047f4b81ef86f5c8cc1ab"
    case .stateRepaired: "dd48325744d049f48c9d03e5ecb5c752"
    case .stateNoticed: "7c1f0a5be3d84f0f9a46d2b1c85e9370"
    case .backupFailed: "a0327fa04faa4d08a9216bc98b9bb067"
    case .instanceQuarantined: "4dad2986ce834960aa06e9ab85a0bcc1"
    case .internalError: "72e63ac7a95343229f70d5dc2e675fc7"
    case .daemonFailed: "e539a78bc8ef43468b12ae6ead581e57"
    case .userLoggedIn: "c963cfe0afae4a3bb9096a04e7d80068"
    case .userLoggedOut: "6b0404f2b09440b8ab01a1c12a3a2107"
    case .authenticationFailed: "3e1c26d323ef423ea848f808f54d35bf"
    case .tokenRefreshed: "4a37fa2df2d7440f87859faeecc3f80c"
    case .refreshFailed: "9530fcd9d6fd4d9ba2032801b65c1c28"
    case .networkError: "d7f20e07ed4242ed84bb895c608099f6"
    case .logoutFailed: "a8d4293433e748a0a81f9b0cbf4e7af6"
    case .fellBackToAnonymous: "46f7c9eab38c445abad98a70a603e9e1"
    case .breakerOpened: "8bb01460217f471cbe0ae8fa1ceac2cc"
    case .breakerClosed: "993955be58884f39937c56af8c5187c1"
    }
  }
}
