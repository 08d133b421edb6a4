import Foundation

/// A register frame that came to the mediator.
struct ChatRegistration: Sendable {
  /// Seconds since 1970 by the sandbox's clock.
  let time: TimeInterval
  let machine: String?
  /// `nil` for an anonymous visitor, and when the id token was refused.
  let externalID: String?
  let outcome: Outcome

  /// How it is acknowledged; what follows `ok` is the `error` of the frame.
  enum Outcome: String, Sendable { case ok, dropped, unauthorized, unknown }

  /// The frame that answers it.
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
