import Foundation

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
  var tree: JSONTree {
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
