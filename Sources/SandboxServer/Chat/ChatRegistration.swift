import Foundation

/// A register frame that the mediator received, with its outcome.
struct ChatRegistration: Sendable {
  /// The seconds since 1970 by the sandbox's clock.
  let time: TimeInterval
  let machine: String?
  /// The external id of the visitor; `nil` for an anonymous visitor and if the frame or its id token was refused.
  let externalID: String?
  let outcome: Outcome

  /// The acknowledgement of a register frame. Every case but `ok` is the `error` of that frame.
  enum Outcome: String, Sendable { case ok, dropped, unauthorized, unknown }

  /// The acknowledgement frame.
  var acknowledgement: JSONTree {
    outcome == .ok
      ? ["__type": "register_ack", "status": "ok"]
      : ["__type": "register_ack", "error": .string(outcome.rawValue)]
  }

  var tree: JSONTree {
    .of([
      "time": .number(time), "mid": .optional(machine), "externalId": .optional(externalID),
      "ack": .string(outcome.rawValue),
    ])
  }
}
