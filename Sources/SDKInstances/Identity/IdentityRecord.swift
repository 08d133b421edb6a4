import JSONRPC
public import SDKProtocol

/// Who an instance is signed in as: what a wipe destroys, sealed on disk.
public struct IdentityRecord: Sendable, Hashable, Codable {
  /// Where the instance rests.
  public var phase: AuthenticationMachine.Phase
  /// Who the user is.
  public var user: User
  /// The credential; `nil` without one.
  public var credential: Credential?
  /// True when the vendor has refused the credential.
  public var isRefused: Bool
  /// What the kind keeps for itself, such as a client id or a session token.
  public var kindState: [String: Secret]
  /// The last failure.
  public var lastError: Instance.LastError?
  /// What the instance goes on without, such as `anonymousFallback`.
  public var degraded: String?
  /// True after an implicit logout: nobody is made in the former user's place until a login or an explicit logout.
  public var isLoggedOutImplicitly: Bool?
  /// True while a credential that can be used once is being spent: after a crash nobody knows whether it was.
  public var isSpending: Bool?

  /// An identity with these parts.
  public init(
    phase: AuthenticationMachine.Phase, user: User = .none, credential: Credential? = nil, isRefused: Bool = false,
    kindState: [String: Secret] = [:], lastError: Instance.LastError? = nil
  ) {
    self.phase = phase
    self.user = user
    self.credential = credential
    self.isRefused = isRefused
    self.kindState = kindState
    self.lastError = lastError
  }

  /// Nobody, after nothing or after a logout.
  public static func nobody(_ phase: AuthenticationMachine.Phase) -> IdentityRecord { IdentityRecord(phase: phase) }

  /// Whether there is anything that a wipe would destroy.
  public var isNobody: Bool { user == .none && credential == nil && kindState.isEmpty }

  /// How good the credential is when the record is read at start.
  func standing(at now: Timestamp) -> AuthenticationMachine.Standing {
    if isRefused { return .refused }
    guard let credential else { return phase == .authenticated ? .usable : .none }
    // A visitor who fell back is signed in again by a look at the clock, and only so.
    if degraded != nil { return .expired }
    return credential.hasExpired(at: now) ? .expired : .usable
  }

  /// The record as the store keeps it.
  func json() throws -> JSON { try JSONValueEncoder.encode(self) }

  /// The record that the store kept.
  static func read(_ json: JSON) throws -> IdentityRecord { try JSONValueDecoder.decode(from: json) }
}
