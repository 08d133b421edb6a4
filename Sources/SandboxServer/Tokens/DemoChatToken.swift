public import Foundation

/// A JWT for the sandbox's Chat backend, minted as a customer's server would (`vendors.md` 4.2).
public struct DemoChatToken: Sendable {
  /// The visitor's `external_id`.
  public var externalID: String
  /// The account's shared secret; its UTF-8 bytes are the key.
  public var secret: String
  /// The `name` claim, left out when `nil`.
  public var name: String?
  /// The `email` claim, left out when `nil`.
  public var email: String?
  /// When it was issued: `iat`, in whole seconds.
  public var issuedAt: Date
  /// How long after `issuedAt` it expires, in seconds; `nil` leaves `exp` out. The vendor allows 420.
  public var lifetime: TimeInterval? = 300

  /// A token of `externalID` with a name and an e-mail made from it, signed with the demo secret unless told otherwise.
  public init(externalID: String, secret: String = DemoAccounts.chatSecret, issuedAt: Date = .now) {
    self.externalID = externalID
    self.secret = secret
    self.issuedAt = issuedAt
    name = externalID
    email = "\(externalID)@\(DemoAccounts.mailDomain)"
  }

  /// The signed token. Two are never equal: each has its own `jti`.
  public var text: String {
    let issued = issuedAt.timeIntervalSince1970.rounded(.down)
    let claims = JSONTree.of([
      "external_id": .string(externalID),
      "name": .optional(name),
      "email": .optional(email),
      "iat": .number(issued),
      "exp": lifetime.map { .number((issued + $0).rounded(.down)) },
      "jti": .string(UUID().uuidString.lowercased()),
    ])
    return HS256.token(claims, secret: secret)
  }
}
