public import Foundation
import JSONRPC

/// A JWT for the sandbox's Messaging backend, as a customer's server issues it.
public struct DemoToken: Sendable {
  /// The user's `external_id`.
  public var externalID: String
  /// The id of the signing key, for the header.
  public var kid: String = DemoAccounts.kid
  /// The signing key's secret; its UTF-8 bytes are the key.
  public var secret: String = DemoAccounts.secret
  /// The `scope` claim. The legacy value `appUser` puts the external id into `userId`.
  public var scope: String = "user"
  /// The `name` claim; `nil` leaves it out.
  public var name: String?
  /// The `email` claim; `nil` leaves it out. It comes with `email_verified`.
  public var email: String?
  /// The time of issue: `iat`, in whole seconds.
  public var issuedAt: Date = .now
  /// The lifetime after `issuedAt`, in seconds; `nil` leaves `exp` out.
  public var lifetime: TimeInterval? = 300

  /// The signed token. It differs at each access, since each has its own `jti`.
  public var text: String {
    let issued = issuedAt.timeIntervalSince1970.rounded(.down)
    let claims = JSON.of([
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

/// A JWT for the sandbox's Chat backend, as a customer's server issues it.
public struct DemoChatToken: Sendable {
  /// The visitor's `external_id`.
  public var externalID: String
  /// The account's shared secret; its UTF-8 bytes are the key.
  public var secret: String
  /// The `name` claim; `nil` leaves it out.
  public var name: String?
  /// The `email` claim; `nil` leaves it out.
  public var email: String?
  /// The time of issue: `iat`, in whole seconds.
  public var issuedAt: Date
  /// The lifetime after `issuedAt`, in seconds; `nil` leaves `exp` out. The vendor allows 420.
  public var lifetime: TimeInterval? = 300

  /// Creates a token of `externalID`, with a name and an e-mail derived from it. It is signed with the demo secret by
  /// default.
  public init(externalID: String, secret: String = DemoAccounts.chatSecret, issuedAt: Date = .now) {
    self.externalID = externalID
    self.secret = secret
    self.issuedAt = issuedAt
    name = externalID
    email = "\(externalID)@\(DemoAccounts.mailDomain)"
  }

  /// The signed token. It differs at each access, since each has its own `jti`.
  public var text: String {
    let issued = issuedAt.timeIntervalSince1970.rounded(.down)
    let claims = JSON.of([
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
