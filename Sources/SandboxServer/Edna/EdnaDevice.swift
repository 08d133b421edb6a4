/// An installation that has registered: its address, and where its pushes go.
struct EdnaDevice: Sendable {
  let address: String
  /// In plain.
  let clientID: String
  let deviceUID: String?
  /// `nil` when there is no push subscription.
  var pushAddress: String?

  var tree: JSONTree {
    .of([
      "deviceAddress": .string(address), "clientId": .string(clientID), "deviceUid": .optional(deviceUID),
      "pnsPushAddress": .optional(pushAddress),
    ])
  }
}
