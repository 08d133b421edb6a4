import Foundation
import JSONRPC

/// An authenticated visitor. The external id never changes.
struct ChatVisitor: Sendable {
  let id: String
  let accountKey: String
  let externalID: String
  var name: String
  var email: String
  /// The state that the last exchange returned, which the client sends with the next exchange.
  var state: String
  var exchanges = 0
  /// The number of exchanges with the newest state; `olderStates` counts those with an older one.
  var newestStates = 0
  var olderStates = 0

  /// The visitor as `GET /_state` shows it.
  var tree: JSON {
    [
      "id": .string(id), "accountKey": .string(accountKey), "externalId": .string(externalID),
      "name": .string(name), "email": .string(email), "state": .string(state),
      "exchanges": .number(Double(exchanges)), "newestStates": .number(Double(newestStates)),
      "olderStates": .number(Double(olderStates)),
    ]
  }

  /// An id token that an exchange issued.
  struct IDToken: Sendable {
    let visitor: String
    let expires: Date
    var isRevoked = false
  }
}

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
  var acknowledgement: JSON {
    outcome == .ok
      ? ["__type": "register_ack", "status": "ok"]
      : ["__type": "register_ack", "error": .string(outcome.rawValue)]
  }

  var tree: JSON {
    .of([
      "time": .number(time), "mid": .optional(machine), "externalId": .optional(externalID),
      "ack": .string(outcome.rawValue),
    ])
  }
}
