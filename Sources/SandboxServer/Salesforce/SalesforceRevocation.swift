import Foundation

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

  var tree: JSONTree {
    .of([
      "time": .number(time), "token": .string(token), "kind": .optional(kind), "grant": .optional(grant),
      "reason": .optional(reason),
    ])
  }
}
