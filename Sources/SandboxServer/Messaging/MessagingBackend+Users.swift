import Foundation
import JSONRPC

extension MessagingBackend {
  /// Handles `POST appusers/U/logout`: removes the user's installation and its push registration.
  ///
  /// The token itself stays valid until it expires: the vendor has no way to revoke one.
  mutating func logout(_ user: MessagingUser, _ call: BackendCall) throws(MessagingRefusal) -> JSON {
    if let client = try Self.body(call).given("client") {
      guard let id = client["id"]?.stringValue else { throw .badRequest("client.id must be a string") }
      if clients[id]?.userID == user.id { clients.removeValue(forKey: id) }
    }
    return [:]
  }

  /// Handles `PUT appusers/U`: sets the members of the profile that the body contains.
  mutating func update(_ user: MessagingUser, _ call: BackendCall) throws(MessagingRefusal) -> JSON {
    var user = user
    user.profile = try Self.profile(Self.body(call), onto: user.profile)
    users[user.id] = user
    return ["appUser": user.tree]
  }

  /// Handles `PUT appusers/U/clients/C`: sets the push token. An empty `pushNotificationToken` unregisters.
  mutating func updateClient(
    _ id: String, of user: MessagingUser, _ call: BackendCall
  ) throws(MessagingRefusal) -> JSON {
    let body = try Self.body(call)
    var client = try existingOrNewClient(id, of: user.id)
    client.integrationID = try Self.text("integrationId", in: body) ?? client.integrationID
    if body.members?["pushNotificationToken"] != nil {
      let token = try Self.text("pushNotificationToken", in: body) ?? ""
      client.pushNotificationToken = token.isEmpty ? nil : token
    }
    clients[id] = client
    return ["client": client.tree]
  }

  /// Returns the profile with the body's members applied. A null member removes its value.
  static func profile(
    _ body: JSON, onto old: [String: JSON]
  ) throws(MessagingRefusal) -> [String: JSON] {
    var profile = old
    for name in MessagingUser.textMembers where body.members?[name] != nil {
      profile[name] = .optional(try text(name, in: body))
    }
    if let properties = body.given("properties") {
      guard properties.members != nil else { throw .badRequest("properties must be an object") }
      profile["properties"] = properties
    }
    return profile
  }
}
