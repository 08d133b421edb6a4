import Foundation

extension SupportBackend {
  /// Returns the user of the call's access token.
  func authorized(_ call: BackendCall) throws(SupportRefusal) -> SupportUser {
    guard let text = call.bearer else { throw .unauthenticated("no Authorization header with Bearer") }
    guard let token = tokens[text], let user = users[token.identity] else {
      throw .unauthenticated("unknown access token")
    }
    if token.isRevoked { throw .unauthenticated("the access token was revoked by /_revoke") }
    return user
  }

  /// Handles `POST push_notification_devices`. A push token is one device: a new registration replaces an older one.
  mutating func createDevice(_ user: SupportUser, _ call: BackendCall) throws(SupportRefusal) -> JSONTree {
    guard let device = try Self.body(call)["push_notification_device"], var details = device.members,
      let identifier = try Self.text("identifier", in: device), !identifier.isEmpty
    else { throw .badRequest("push_notification_device.identifier is missing") }
    for name in ["device_type", "locale", "token_type", "sdk_guid"] { _ = try Self.text(name, in: device) }
    details.removeValue(forKey: "identifier")
    for (key, old) in devices.values where old.identifier == identifier { devices[key] = nil }
    let created = SupportDevice(id: newID(), userID: user.id, identifier: identifier, details: details)
    devices[String(created.id)] = created
    return ["push_notification_device": created.tree]
  }

  /// Handles `DELETE push_notification_devices/{id}`, by the record's id or by the push token.
  mutating func deleteDevice(_ id: String, of user: SupportUser) throws(SupportRefusal) {
    let found = devices[id] ?? devices.values.values.first { $0.identifier == id }
    guard let found, found.userID == user.id else { throw .notFound("device of this user") }
    devices[String(found.id)] = nil
  }
}
