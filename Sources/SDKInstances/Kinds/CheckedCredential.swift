public import SDKProtocol

/// A credential that may be right, as far as can be told without the network.
public struct CheckedCredential: Sendable, Hashable {
  /// What was supplied: what the vendor wants to see, or what is exchanged for that.
  public var credential: Credential
  /// Whom it names; `nil` when it does not say.
  public var externalId: String?
  /// What it says of the user.
  public var name: String?
  /// What it says of the user.
  public var email: String?
  /// Findings of the lint, for a vendor that won't say why it refuses.
  public var hints: [String]
  /// What else the kind needs to show it to the vendor; never leaves memory.
  public var details: [String: Secret]

  /// Whether both say the same, whenever they came.
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
