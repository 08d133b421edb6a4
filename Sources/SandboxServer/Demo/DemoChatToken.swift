public import Foundation
import JSONRPC

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
