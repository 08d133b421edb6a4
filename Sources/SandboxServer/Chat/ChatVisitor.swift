import Foundation

/// A visitor who has authenticated: whose external id can't change any more.
struct ChatVisitor: Sendable {
  let id: String
  let accountKey: String
  let externalID: String
  var name: String
  var email: String
  /// What the last exchange gave to be sent with the next.
  var state: String
  var exchanges = 0
  /// Exchanges that came with the newest state, and those with an older one.
  var newestStates = 0
  var olderStates = 0

  /// As `GET /_state` shows it.
  var tree: JSONTree {
    [
      "id": .string(id), "accountKey": .string(accountKey), "externalId": .string(externalID),
      "name": .string(name), "email": .string(email), "state": .string(state),
      "exchanges": .number(Double(exchanges)), "newestStates": .number(Double(newestStates)),
      "olderStates": .number(Double(olderStates)),
    ]
  }

  /// What an exchange yields.
  struct IDToken: Sendable {
    let visitor: String
    let expires: Date
    var isRevoked = false
  }
}
