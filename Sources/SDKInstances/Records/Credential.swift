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

/// A credential that is valid as far as can be checked without the network.
public struct CheckedCredential: Sendable, Hashable {
  /// The supplied credential: either the one for the vendor, or one to exchange for that.
  public var credential: Credential
  /// The external id of the user that it names; `nil` if it names none.
  public var externalId: String?
  /// The user's name according to the credential.
  public var name: String?
  /// The user's email address according to the credential.
  public var email: String?
  /// Findings of the lint, for a vendor that does not explain its refusals.
  public var hints: [String]
  /// Further data that the kind needs to show it to the vendor; never leaves memory.
  public var details: [String: Secret]

  /// Whether both are equal, apart from the time at which they were obtained.
  func isSame(as other: CheckedCredential) -> Bool {
    var other = other
    other.credential.obtainedAt = credential.obtainedAt
    return self == other
  }

  /// A checked credential.
  public init(
    credential: Credential, externalId: String? = nil, name: String? = nil, email: String? = nil,
    hints: [String] = [], details: [String: Secret] = [:]
  ) {
    self.credential = credential
    self.externalId = externalId
    self.name = name
    self.email = email
    self.hints = hints
    self.details = details
  }
}
