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
    case .noUser: "Nobody has ever signed in, or the user was deauthorised."
    case .anonymous: "The vendor knows the user only as an anonymous one."
    case .authenticating: "A login or exchange is in progress."
    case .authenticated: "The user is signed in."
    case .refreshing: "The user is signed in, and a renewal is in progress."
    case .reauthNeeded: "A new credential is needed; the identity is kept, and its content is locked."
    case .locked: "The vendor refused the user, or a wipe failed; nothing is handed out."
    case .loggedOut: "The user is logged out, explicitly or implicitly."
    case .quarantined: "The stored state does not open; only admins see the instance."
    }
  }
}
