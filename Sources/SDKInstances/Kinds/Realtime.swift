public import JSONRPC
public import SDKProtocol

/// A connection that an instance keeps with its vendor while somebody is signed in.
public protocol RealtimeConnection: Sendable {
  /// Runs it to its end.
  ///
  /// - Parameter hear: takes the vendor's news, one at a time.
  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd

  /// Asks the vendor something on it; what, is the kind's own affair.
  ///
  /// - Throws: the reasons of an unreachable vendor; the vendor's refusal.
  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject

  /// Ends it.
  func close() async
}

/// What a vendor tells unasked. Indirect, as the tasks of thousands of connections wait with room for one.
public indirect enum RealtimeNews: Sendable {
  /// The connection is up: the vendor knows the user.
  case connected
  /// The connection is a good one: after it has ended the first pause is a short one again.
  case settled
  /// The vendor said something that the identity keeps; with the credential as it is now, if that changes it.
  case learned([String: Secret], credential: Credential?)
  /// The user was merged: this is who the instance speaks for now.
  case merged(SignedIn.Merge, user: User, credential: Credential?, kindState: [String: Secret])
  /// The anonymous user was merged into one for whom nobody has shown a credential: the user is gone.
  case mergedAway(SignedIn.Merge)
}

/// How a connection ended. Indirect as `RealtimeNews` is.
public indirect enum RealtimeEnd: Sendable, Hashable {
  /// The vendor refused the credential; it is not tried again until the credential changes.
  case refused(SDKError)
  /// It broke, or the vendor ended it; it is tried again, not before the error's `retryAfter`.
  case lost(SDKError)
  /// It is not tried again until the credential changes.
  case ended
}
