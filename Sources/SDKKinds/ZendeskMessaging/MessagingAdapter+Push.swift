import JSONRPC
import SDKInstances
import SDKProtocol

/// Push: the one address of the instance's client at the vendor (`vendors.md` 1.2, `clients/{clientId}`).
///
/// A logout that the vendor has heard of names the client and so ends its push with it, and so does another user's
/// login. A user who goes without the vendor's knowledge leaves a delivery.
extension MessagingAdapter {
  var keepsOnePush: Bool { true }
  var overwritesPush: Bool { true }

  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? {
    try await setAddress(push.address.reveal(), of: identity)
    return wire.clientId
  }

  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    try await setAddress("", of: identity)
  }

  /// An empty address unregisters.
  private func setAddress(_ address: String, of identity: IdentityRecord) async throws(SDKError) {
    guard let id = identity.user.id, let credential = identity.credential else {
      throw SDKError(.state, .notAuthenticated, "Zendesk Messaging has no user yet who could be reached; log in first.")
    }
    let place = try await wire.place(of: identity)
    let answer = await authorized(
      "PUT", clientPath(id), body: Self.body(address, place.integrationId), credential, of: identity, at: place)
    try succeeded(answer, credential: credential)
  }

  func clientPath(_ user: String) -> String { "\(Self.path(user))/clients/\(wire.clientId)" }

  static func body(_ address: String, _ integrationId: String?) -> JSONObject {
    var body: JSONObject = ["pushNotificationToken": .string(address)]
    body["integrationId"] = integrationId.map(JSON.string)
    return body
  }
}
