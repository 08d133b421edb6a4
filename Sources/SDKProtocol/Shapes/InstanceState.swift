public import JSONRPC

/// The state of an instance (`protocol.md`, "States").
public enum InstanceState: String, Sendable, Codable, CaseIterable, JSONSchemaRepresentable {
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

  public static let jsonSchema = JSONSchema.enumeration(allCases.map(\.rawValue))
}
