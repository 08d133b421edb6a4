import JSONRPC
import SDKInstances
import SDKProtocol

/// Push: the one address of the instance's client at the vendor.
/// A logout at the vendor names the client and ends its push registration with it. So does another user's login. When a
/// user is wiped without the vendor's knowledge, a delivery removes the registration.
extension MessagingAdapter {
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

  /// Sets the address of the client. An empty address unregisters it.
  private func setAddress(_ address: String, of identity: IdentityRecord) async throws(SDKError) {
    guard let id = identity.user.id, let credential = identity.credential else {
      throw SDKError(.state, .notAuthenticated, "Zendesk Messaging has no user yet who could be reached; log in first.")
    }
    try await account.atPlace(of: identity) { (place, _) throws(SDKError) in
      let answer = await authorized(
        "PUT", clientPath(id), body: Self.body(address, place.integrationId), secrets: [Secret(address)], credential,
        of: identity, at: place)
      try succeeded(answer, credential: credential)
    }
  }

  func clientPath(_ user: String) -> String { "\(Self.path(user))/clients/\(wire.clientId)" }

  static func body(_ address: String, _ integrationId: String?) -> JSONObject {
    var body: JSONObject = ["pushNotificationToken": .string(address)]
    body["integrationId"] = integrationId.map(JSON.string)
    return body
  }
}
