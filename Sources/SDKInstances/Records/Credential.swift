import JSONRPC
public import SDKProtocol

/// A credential that an instance holds.
public struct Credential: Sendable, Hashable, Codable {
  /// The text of the credential.
  public var token: Secret
  /// The type of the credential.
  public var type: Token.TokenType
  /// The time at which the daemon obtained it, by the vendor's clock like `expiresAt`.
  public var obtainedAt: Timestamp
  /// The time at which the credential expires; `nil` if unknown.
  public var expiresAt: Timestamp?

  /// Creates a credential with these parts.
  public init(token: Secret, type: Token.TokenType, obtainedAt: Timestamp, expiresAt: Timestamp?) {
    self.token = token
    self.type = type
    self.obtainedAt = obtainedAt
    self.expiresAt = expiresAt
  }

  /// The digest of the credential, which is safe to log.
  public var tokenId: TokenID { TokenID(token) }

  /// Whether the credential has expired at a time; `false` if its expiry is unknown.
  public func hasExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// A credential that is valid as far as can be checked without the network.
public struct CheckedCredential: Sendable, Hashable {
  /// The supplied credential. It is for the vendor, or is exchanged at the vendor for another one.
  public var credential: Credential
  /// The external id of the user according to the credential; `nil` if it contains none.
  public var externalId: String?
  /// The user's name according to the credential.
  public var name: String?
  /// The user's email address according to the credential.
  public var email: String?
  /// The defects that the kind's local check of the credential found. They become the hints of an error if the vendor
  /// refuses the credential.
  public var hints: [String]
  /// Further data that the kind needs to show the credential to the vendor. It is never stored.
  public var details: [String: Secret]
  /// Whether a request that may have ended the credential's session was in progress when the login began. The vendor
  /// must then be asked before the login is accepted.
  public var mayHaveEnded = false

  /// Whether two credentials are equal, apart from the times at which they were obtained.
  func isSame(as other: CheckedCredential) -> Bool {
    var other = other
    other.credential.obtainedAt = credential.obtainedAt
    return self == other && externalId.hasSameBytes(as: other.externalId) && name.hasSameBytes(as: other.name)
      && email.hasSameBytes(as: other.email)
  }

  /// Creates a checked credential.
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
