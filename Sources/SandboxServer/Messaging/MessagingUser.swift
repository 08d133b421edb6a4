import JSONRPC

/// A user of the Messaging backend (`appUser` on the wire).
struct MessagingUser: Sendable {
  /// The `_id` of the user, 24 hexadecimal digits.
  let id: String
  /// The `userId`; `nil` for an anonymous user.
  var externalID: String?
  /// The session token of an anonymous user. It is removed for good when the user gets an external id.
  var sessionToken: String?
  /// The tokens issued for anonymous users that were merged into this one. They are as valid as its own.
  var furtherSessions: [String] = []
  /// The profile as set by login or `PUT`: `givenName`, `surname`, `email`, `locale`, `signedUpAt` and `properties`.
  var profile: [String: JSON] = [:]
  var conversations: [String] = []

  /// The members of a profile whose values are strings.
  static let textMembers = ["givenName", "surname", "email", "locale", "signedUpAt"]

  /// The user as `appUser` in responses.
  var tree: JSON {
    var members = profile
    members["_id"] = .string(id)
    members["userId"] = .optional(externalID)
    members["properties"] = profile["properties"] ?? [:]
    members["conversationStarted"] = .bool(!conversations.isEmpty)
    return .object(members)
  }

  /// The user's conversations, as the member `conversations` of responses.
  var conversationTrees: JSON {
    .array(conversations.map { ["_id": .string($0), "type": "personal", "isDefault": true, "messages": []] })
  }

  /// Copies name and e-mail from the claims of a verified token into the profile.
  mutating func adopt(_ claims: JSON) {
    if let name = claims["name"]?.stringValue {
      let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
      profile["givenName"] = .optional(parts.first)
      profile["surname"] = .optional(parts.count > 1 ? parts[1] : nil)
    }
    if let email = claims["email"]?.stringValue { profile["email"] = .string(email) }
  }
}

/// An installation of the SDK (`client` on the wire) and its current user.
struct MessagingClient: Sendable {
  let id: String
  var userID: String
  var platform: String?
  var integrationID: String?
  /// The push token of the installation; `nil` if none is registered.
  var pushNotificationToken: String?

  var tree: JSON {
    .of([
      "id": .string(id), "userId": .string(userID), "platform": .optional(platform),
      "integrationId": .optional(integrationID), "pushNotificationToken": .optional(pushNotificationToken),
    ])
  }
}
