public import JSONRPC

/// The state of an instance (sdkd-protocol(7)).
public enum InstanceState: String, Sendable, Codable, DescribedEnumeration {
  /// Never signed in, or deauthorised.
  case noUser
  /// The vendor knows the user only as an anonymous one.
  case anonymous
  /// A login or exchange is in progress.
  case authenticating
  /// Signed in.
  case authenticated
  /// Signed in, and a renewal is in progress.
  case refreshing
  /// A new credential is needed. The identity is kept, and its content is locked.
  case reauthNeeded
  /// Locked because of a refusal by the vendor or a failed wipe.
  case locked
  /// Logged out, explicitly or implicitly.
  case loggedOut
  /// The stored state cannot be opened. Only admins see the instance, and every call on it except its deletion fails
  /// with `instanceQuarantined`.
  case quarantined

  public static let jsonSchema = schema(named: "InstanceState")

  public var meaning: String {
    switch self {
    case .noUser: "Nobody has signed in yet, or the user was deauthorized."
    case .anonymous: "The vendor knows the user only as an anonymous one."
    case .authenticating: "A login or exchange is in progress."
    case .authenticated: "A user is signed in, and tokens can be had."
    case .refreshing:
      "A user is signed in, and the token is being renewed. The present one is served as long as it lives."
    case .reauthNeeded:
      "The credential has expired or was refused, and no new one could be had. The identity is kept, its content is locked."
    case .locked: "The vendor does not let the user in, or stored data could not be wiped. No token is given."
    case .loggedOut: "The user has logged out, or was logged out. What was stored for them is wiped."
    case .quarantined: "The stored state does not open. Only admins see the instance, and only its deletion works."
    }
  }
}
