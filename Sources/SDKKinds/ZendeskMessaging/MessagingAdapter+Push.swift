import JSONRPC
import SDKInstances
import SDKProtocol

/// Push: the one address of the instance's client at the vendor (`vendors.md` 1.2, `clients/{clientId}`).
///
/// A logout that the vendor has heard of names the client and so ends its push with it. A user who goes without the
/// vendor's knowledge leaves a delivery; it is void once somebody signs in, for then the client is theirs.
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

  private func clientPath(_ user: String) -> String { "\(Self.path(user))/clients/\(wire.clientId)" }

  private static func body(_ address: String, _ integrationId: String?) -> JSONObject {
    var body: JSONObject = ["pushNotificationToken": .string(address)]
    body["integrationId"] = integrationId.map(JSON.string)
    return body
  }

  func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] {
    guard !isInformed, !pushes.isEmpty, let id = identity.user.id, let credential = identity.credential,
      !credential.hasExpired(at: now), let place = MessagingPlace(settings: settings, identity: identity),
      let header = MessagingWire.Authorization(credential, of: identity.user).header
    else { return [] }
    // The backend may be another one by the time of the delivery.
    var details: [String: Secret] = [
      "base_url": Secret(place.baseURL), "app_id": Secret(place.appId), "user": Secret(id),
      "authorization": Secret(header),
    ]
    details["integration_id"] = place.integrationId.map { Secret($0) }
    var delivery = Delivery("unregisterPush", details: details, now: now)
    delivery.endsAtSignIn = true
    if let end = credential.expiresAt { delivery.deadline = min(delivery.deadline, end) }
    return [delivery]
  }

  func deliver(_ delivery: Delivery) async throws(SDKError) {
    let details = delivery.details
    guard let base = details["base_url"], let app = details["app_id"], let user = details["user"],
      let authorization = details["authorization"]
    else { return }
    let answer = await wire.send(
      "PUT", clientPath(user.reveal()), body: Self.body("", details["integration_id"]?.reveal()),
      authorization: .written(authorization), base: base.reveal(), app: app.reveal())
    try succeeded(answer, credential: nil)
  }
}
