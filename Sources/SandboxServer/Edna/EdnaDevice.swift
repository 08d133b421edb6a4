/// A registered installation with its device address and its push address.
struct EdnaDevice: Sendable {
  let address: String
  /// The plain client id of the device's user.
  let clientID: String
  let deviceUID: String?
  /// The address for pushes; `nil` without a push subscription.
  var pushAddress: String?

  var tree: JSONTree {
    .of([
      "deviceAddress": .string(address), "clientId": .string(clientID), "deviceUid": .optional(deviceUID),
      "pnsPushAddress": .optional(pushAddress),
    ])
  }
}
