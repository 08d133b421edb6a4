/// A user of the installation, identified by the plain client id.
struct EdnaUser: Sendable {
  let id: String
  /// The client id as the last request or registration sent it, encrypted or plain.
  var identifier: EdnaIdentifier
  /// The credentials of the last request or registration.
  var credentials: JSONTree = [:]
  /// The content of the last `CLIENT_INFO`, without type and client id.
  var info: [String: JSONTree] = [:]
  /// The `data` of the last `INIT_CHAT` that had one.
  var data: JSONTree?

  /// Returns the user as `GET /_state` shows it.
  func tree(isOnline: Bool) -> JSONTree {
    .of([
      "clientId": .string(id),
      "encryptedClientId": identifier.decrypted == nil ? nil : .string(identifier.sent),
      "encryption": .optional(identifier.decrypted?.scheme),
      "auth": credentials, "info": .object(info), "data": data, "online": .bool(isOnline),
    ])
  }
}
