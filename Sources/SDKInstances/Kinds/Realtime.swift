public import JSONRPC
public import SDKProtocol

/// A connection that an instance keeps with its vendor while a user is signed in.
public protocol RealtimeConnection: Sendable {
  /// Runs the connection until it ends.
  ///
  /// - Parameter hear: called with the vendor's news, one at a time.
  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd

  /// Sends a request to the vendor on the connection. Its content is the kind's own.
  ///
  /// - Throws: the errors of an unreachable vendor; the vendor's refusal.
  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject

  /// Ends the connection.
  func close() async
}

/// Unsolicited news from a vendor. Indirect, because the tasks of thousands of connections reserve memory for one.
public indirect enum RealtimeNews: Sendable {
  /// The connection is up: the vendor knows the user.
  case connected
  /// The connection is stable: after it has ended, the first pause is a short one again.
  case settled
  /// The vendor sent state that the identity keeps, and the present credential if the news changes it.
  case learned([String: Secret], credential: Credential?)
  /// The user was merged into this one, whom the instance represents from now on.
  case merged(SignedIn.Merge, user: User, credential: Credential?, kindState: [String: Secret])
  /// The anonymous user was merged into one whose credential was never supplied: the user is gone.
  case mergedAway(SignedIn.Merge)
}

/// The reason why a connection ended. Indirect like `RealtimeNews`.
public indirect enum RealtimeEnd: Sendable, Hashable {
  /// The vendor refused the credential. There is no retry until the credential changes.
  case refused(SDKError)
  /// It broke, or the vendor ended it. It is retried, not before the error's `retryAfter`.
  case lost(SDKError)
  /// It ended. There is no retry until the credential changes.
  case ended
}
