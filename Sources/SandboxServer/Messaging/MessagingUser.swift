/// A user of the Messaging backend (`appUser` on the wire, `vendors.md` 1.2).
struct MessagingUser: Sendable {
  /// `_id`, 24 hexadecimal digits.
  let id: String
  /// `userId`; `nil` makes the user anonymous.
  var externalID: String?
  /// What the anonymous user authenticates with; gone for good once the user is known by an external id.
  var sessionToken: String?
  /// Tokens of anonymous users that were merged into this one, as valid as its own.
  var furtherSessions: [String] = []
  /// `givenName`, `surname`, `email`, `locale`, `signedUpAt`, `properties`, as set by login or `PUT`.
  var profile: [String: JSONTree] = [:]
  var conversations: [String] = []

  /// Members of a profile, and which kind of value each takes.
  static let textMembers = ["givenName", "surname", "email", "locale", "signedUpAt"]

  /// `appUser` as the responses carry it.
  var tree: JSONTree {
    var members = profile
    members["_id"] = .string(id)
    members["userId"] = .optional(externalID)
    members["properties"] = profile["properties"] ?? [:]
    members["conversationStarted"] = .bool(!conversations.isEmpty)
    return .object(members)
  }

  /// The `conversations` that go with it.
  var conversationTrees: JSONTree {
    .array(conversations.map { ["_id": .string($0), "type": "personal", "isDefault": true, "messages": []] })
  }

  /// Takes over what a verified token says about the user.
  mutating func adopt(_ claims: JSONTree) {
    if let name = claims["name"]?.text {
      let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
      profile["givenName"] = .optional(parts.first)
      profile["surname"] = .optional(parts.count > 1 ? parts[1] : nil)
    }
    if let email = claims["email"]?.text { profile["email"] = .string(email) }
  }
}
