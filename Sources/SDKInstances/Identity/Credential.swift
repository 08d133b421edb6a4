public import SDKProtocol

/// A credential that an instance holds.
public struct Credential: Sendable, Hashable, Codable {
  /// The credential itself.
  public var token: Secret
  /// The type of the credential.
  public var type: Token.TokenType
  /// The time at which the daemon obtained it.
  public var obtainedAt: Timestamp
  /// The time at which it expires; `nil` if that is unknown.
  public var expiresAt: Timestamp?

  /// A credential with these parts.
  public init(token: Secret, type: Token.TokenType, obtainedAt: Timestamp, expiresAt: Timestamp?) {
    self.token = token
    self.type = type
    self.obtainedAt = obtainedAt
    self.expiresAt = expiresAt
  }

  /// Its digest, safe to log.
  public var tokenId: TokenID { TokenID(token) }

  /// Whether it has expired; `false` if its expiry is unknown.
  public func hasExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
