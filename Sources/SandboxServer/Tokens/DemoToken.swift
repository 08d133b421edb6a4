public import Foundation

/// A JWT for the sandbox's Messaging backend, minted as a customer's server would (`vendors.md` 1.4).
public struct DemoToken: Sendable {
  /// The user's `external_id`.
  public var externalID: String
  /// The signing key's id, in the header.
  public var kid: String
  /// The signing key's secret; its UTF-8 bytes are the key.
  public var secret: String
  /// `user`; the legacy `appUser` puts the external id into `userId`.
  public var scope: String = "user"
  /// The `name` claim, left out when `nil`.
  public var name: String?
  /// The `email` claim, left out when `nil`; comes with `email_verified`.
  public var email: String?
  /// When it was issued: `iat`, in whole seconds.
  public var issuedAt: Date
  /// How long after `issuedAt` it expires, in seconds; `nil` leaves `exp` out.
  public var lifetime: TimeInterval? = 300

  /// A token of `externalID`, signed with a demo key unless told otherwise.
  public init(
    externalID: String, kid: String = DemoAccounts.kid, secret: String = DemoAccounts.secret, issuedAt: Date = .now
  ) {
    self.externalID = externalID
    self.kid = kid
    self.secret = secret
    self.issuedAt = issuedAt
  }

  /// The signed token. Two are never equal: each has its own `jti`.
  public var text: String {
    let issued = issuedAt.timeIntervalSince1970.rounded(.down)
    let claims = JSONTree.of([
      "scope": .string(scope),
      scope == "appUser" ? "userId" : "external_id": .string(externalID),
      "name": .optional(name),
      "email": .optional(email),
      "email_verified": email.map { _ in true },
      "iat": .number(issued),
      "exp": lifetime.map { .number((issued + $0).rounded(.down)) },
      "jti": .string(UUID().uuidString.lowercased()),
    ])
    return HS256.token(claims, kid: kid, secret: secret)
  }
}
