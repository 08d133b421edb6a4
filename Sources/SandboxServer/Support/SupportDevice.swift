/// A push registration (`push_notification_device` on the wire).
struct SupportDevice: Sendable {
  let id: Int
  let userID: Int
  /// The push token.
  let identifier: String
  /// The other members, as sent.
  let details: [String: JSONTree]

  var tree: JSONTree {
    var members = details
    members["id"] = .number(Double(id))
    members["identifier"] = .string(identifier)
    return .object(members)
  }

  var stateTree: JSONTree {
    var members = tree.members ?? [:]
    members["userId"] = .number(Double(userID))
    return .object(members)
  }
}
