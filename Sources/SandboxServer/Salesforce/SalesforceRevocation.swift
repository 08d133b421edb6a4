import Foundation

/// A request to the revocation endpoint, and what it ended.
struct SalesforceRevocation: Sendable {
  /// Seconds since 1970 by the sandbox's clock.
  let time: TimeInterval
  let token: String
  /// `refresh` or `access`; `nil` for a token that was unknown or dead already.
  let kind: String?
  let grant: String?
  /// `revoke_reason`.
  let reason: String?

  var tree: JSONTree {
    .of([
      "time": .number(time), "token": .string(token), "kind": .optional(kind), "grant": .optional(grant),
      "reason": .optional(reason),
    ])
  }
}
