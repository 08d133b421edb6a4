import SDKInstances
import SDKProtocol
import Synchronization

/// The Bayeux client id of an instance's broken realtime connection, for the next connection to resume.
///
/// It is kept in memory only, and is valid only for the same user and credential.
final class FormerClient: Sendable {
  private struct Kept {
    var id: String
    var user: String?
    var token: TokenID?
  }

  private struct State {
    var kept: Kept?
    /// The number of connections in a row that broke before the server confirmed the client.
    var failures = 0
  }

  private let state = Mutex(State())

  /// The number of failures after which a new handshake is due. A server may close the connection of a client that it
  /// has forgotten.
  static let maximumFailures = 3

  /// Keeps the id for the next connection of this user.
  ///
  /// - Parameter isKnown: whether the server knew the client on the connection that broke.
  func keep(_ id: String, for identity: IdentityRecord, isKnown: Bool) {
    state.withLock { state in
      state.failures = isKnown ? 0 : state.failures + 1
      guard state.failures < Self.maximumFailures else { return }
      state.kept = Kept(id: id, user: identity.user.id, token: identity.credential?.tokenId)
    }
  }

  /// Removes and returns the id; `nil` if it belongs to another user or credential.
  func take(for identity: IdentityRecord) -> String? {
    state.withLock { state in
      defer { state.kept = nil }
      guard let kept = state.kept, kept.user == identity.user.id, kept.token == identity.credential?.tokenId else {
        return nil
      }
      return kept.id
    }
  }
}
