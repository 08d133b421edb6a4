/// An installation of the SDK (`client` on the wire) and the user who uses it now.
struct MessagingClient: Sendable {
  let id: String
  var userID: String
  var platform: String?
  var integrationID: String?
  /// Where pushes for the user go; `nil` when not registered.
  var pushNotificationToken: String?

  var tree: JSONTree {
    .of([
      "id": .string(id), "userId": .string(userID), "platform": .optional(platform),
      "integrationId": .optional(integrationID), "pushNotificationToken": .optional(pushNotificationToken),
    ])
  }
}
