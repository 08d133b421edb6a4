public import SDKProtocol

/// A credential that an instance holds.
public struct Credential: Sendable, Hashable, Codable {
  /// The credential itself.
  public var token: Secret
  /// What sort it is.
  public var type: Token.TokenType
  /// When it came to us.
  public var obtainedAt: Timestamp
  /// When it ends, if anybody knows.
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

  /// Whether its end has passed.
  public func hasExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
