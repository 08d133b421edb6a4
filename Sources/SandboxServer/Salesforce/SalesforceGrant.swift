import Foundation
import JSONRPC

/// A user's approval of a connected app, with its refresh token.
struct SalesforceGrant: Sendable {
  let id: String
  let user: String
  let clientID: String
  /// Whether each refresh issues a new refresh token.
  let rotates: Bool
  /// The lifetime of its access tokens, in seconds.
  let ttl: Double
  /// The valid refresh token; `nil` for a grant without one and for an ended grant.
  var refreshToken: String?
  /// The number of successful refreshes.
  var refreshes = 0
  /// The number of requests with a refresh token that was already spent.
  var spentUses = 0
  /// The reason why the grant has ended; `nil` while it is valid.
  var ended: String?

  /// An access token of a grant.
  struct Access: Sendable {
    let grant: String
    let expires: Date
    /// The instance that accepts the token; `nil` for the organisation's own address.
    let instance: String?
    var isRevoked = false
  }

  /// The grant as `GET /_state` shows it.
  var tree: JSON {
    .of([
      "id": .string(id), "user": .string(user), "clientId": .string(clientID), "rotating": .bool(rotates),
      "ttl": .number(ttl), "refreshToken": .optional(refreshToken), "refreshes": .number(Double(refreshes)),
      "spentUses": .number(Double(spentUses)), "ended": .optional(ended),
    ])
  }
}

/// A connected app.
struct SalesforceClient: Sendable {
  /// The secret of the app; `nil` for an app without one.
  var secret: String?
  /// Whether a refresh token is valid for one refresh only.
  var rotates = false

  static let demo = [
    DemoAccounts.salesforceClientID: SalesforceClient(),
    DemoAccounts.salesforceRotatingClientID: SalesforceClient(rotates: true),
    DemoAccounts.salesforceConfidentialClientID: SalesforceClient(secret: DemoAccounts.salesforceClientSecret),
  ]
}

/// A push registration, a `MobilePushServiceDevice`.
struct SalesforceDevice: Sendable {
  let id: String
  let user: String
  /// The push token.
  let connectionToken: String
  let serviceType: String

  /// The device as `GET /_state` shows it.
  var tree: JSON {
    [
      "id": .string(id), "user": .string(user), "ConnectionToken": .string(connectionToken),
      "ServiceType": .string(serviceType),
    ]
  }
}

/// A request to the revocation endpoint, with its effect.
struct SalesforceRevocation: Sendable {
  /// The seconds since 1970 by the sandbox's clock.
  let time: TimeInterval
  let token: String
  /// The kind of the revoked token, `refresh` or `access`; `nil` for a token that was unknown or no longer valid.
  let kind: String?
  let grant: String?
  /// The form's `revoke_reason`.
  let reason: String?

  var tree: JSON {
    .of([
      "time": .number(time), "token": .string(token), "kind": .optional(kind), "grant": .optional(grant),
      "reason": .optional(reason),
    ])
  }
}
