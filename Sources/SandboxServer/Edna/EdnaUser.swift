/// A user of the installation, known by the client id in plain.
struct EdnaUser: Sendable {
  let id: String
  /// What the last request or frame called the user, encrypted or not.
  var identifier: EdnaIdentifier
  /// What the last request proved the user with.
  var credentials: JSONTree = [:]
  /// The last `CLIENT_INFO`, without type and client id.
  var info: [String: JSONTree] = [:]
  /// `data` of the last `INIT_CHAT` that had one.
  var data: JSONTree?

  /// As `GET /_state` shows it.
  func tree(isOnline: Bool) -> JSONTree {
    .of([
      "clientId": .string(id),
      "encryptedClientId": identifier.decrypted == nil ? nil : .string(identifier.sent),
      "encryption": .optional(identifier.decrypted?.scheme),
      "auth": credentials, "info": .object(info), "data": data, "online": .bool(isOnline),
    ])
  }
}
