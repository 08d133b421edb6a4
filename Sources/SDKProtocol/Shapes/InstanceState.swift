public import JSONRPC

/// Where an instance stands (`protocol.md`, "States").
public enum InstanceState: String, Sendable, Codable, CaseIterable, JSONSchemaRepresentable {
  /// Never signed in, or deauthorised.
  case noUser
  /// The vendor knows the user as an anonymous one.
  case anonymous
  /// A login or exchange is on its way.
  case authenticating
  /// Signed in.
  case authenticated
  /// Signed in, and a renewal is on its way.
  case refreshing
  /// The identity is kept, the content locked: a new credential is needed.
  case reauthNeeded
  /// Locked by the vendor's refusal or a failed wipe.
  case locked
  /// After an explicit or implicit logout.
  case loggedOut
  /// Its stored state does not open. Only admins see it, and every call on it but its deletion answers
  /// `instanceQuarantined`.
  case quarantined

  public static let jsonSchema = JSONSchema.enumeration(allCases.map(\.rawValue))
}
