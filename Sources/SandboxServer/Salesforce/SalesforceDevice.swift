/// A push registration, a `MobilePushServiceDevice`.
struct SalesforceDevice: Sendable {
  let id: String
  let user: String
  /// The push token.
  let connectionToken: String
  let serviceType: String

  /// The device as `GET /_state` shows it.
  var tree: JSONTree {
    [
      "id": .string(id), "user": .string(user), "ConnectionToken": .string(connectionToken),
      "ServiceType": .string(serviceType),
    ]
  }
}
