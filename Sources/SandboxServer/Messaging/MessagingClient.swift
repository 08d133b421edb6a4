/// An installation of the SDK (`client` on the wire) and its current user.
struct MessagingClient: Sendable {
  let id: String
  var userID: String
  var platform: String?
  var integrationID: String?
  /// The push token of the installation; `nil` if none is registered.
  var pushNotificationToken: String?

  var tree: JSONTree {
    .of([
      "id": .string(id), "userId": .string(userID), "platform": .optional(platform),
      "integrationId": .optional(integrationID), "pushNotificationToken": .optional(pushNotificationToken),
    ])
  }
}
