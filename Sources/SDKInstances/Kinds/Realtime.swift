public import JSONRPC
public import SDKProtocol

/// A connection that an instance keeps with its vendor while a user is signed in.
public protocol RealtimeConnection: Sendable {
  /// Runs the connection until it ends.
  ///
  /// - Parameter hear: called with each message of the vendor, one at a time.
  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd

  /// Sends a request to the vendor on the connection and returns the response. Their format depends on the kind.
  ///
  /// - Throws: the errors of an unreachable vendor; the vendor's refusal.
  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject

  /// Ends the connection.
  func close() async
}

/// A message that a vendor sends on a realtime connection without a request. Indirect to save memory: the task of each
/// connection reserves space for one value.
public indirect enum RealtimeNews: Sendable {
  /// The connection is open, and the vendor has recognized the user.
  case connected
  /// The connection is stable: after its end, the delays between attempts start at their minimum again.
  case settled
  /// The vendor sent state to be stored in the identity, and a new credential if it changed.
  case learned([String: Secret], credential: Credential?)
  /// The vendor merged the instance's user into another user, who becomes the user of the instance.
  case merged(SignedIn.Merge, user: User, credential: Credential?, kindState: [String: Secret])
  /// The vendor merged the anonymous user into a user for whom the instance has no credential. The anonymous user is
  /// then wiped.
  case mergedAway(SignedIn.Merge)
}

/// The reason why a connection ended. Indirect like `RealtimeNews`.
public indirect enum RealtimeEnd: Sendable, Hashable {
  /// The vendor refused the credential. There is no retry until the credential changes.
  case refused(SDKError)
  /// The connection broke, or the vendor closed it. It is opened again, but not before the error's `retryAfter`.
  case lost(SDKError)
  /// The connection ended in an orderly way. There is no retry until the credential changes.
  case ended
}
