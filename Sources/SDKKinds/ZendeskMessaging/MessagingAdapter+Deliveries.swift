import JSONRPC
import SDKInstances
import SDKProtocol

/// Deliveries to the vendor for a user who was wiped here, with that user's own credential.
extension MessagingAdapter {
  private static let logout = "logout"

  /// Returns the removal of the push registration. It is dropped once a user signs in, because the client is theirs
  /// then.
  func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] {
    guard !isInformed, !pushes.isEmpty, var delivery = delivery("unregisterPush", of: identity, now: now) else {
      return []
    }
    delivery.endsAtSignIn = true
    return [delivery]
  }

  /// Returns the logout of a user whom another one has replaced. It is dropped once the former user signs in again.
  func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery? {
    guard var delivery = delivery(Self.logout, of: identity, now: now) else { return nil }
    delivery.endsSession = true
    delivery.subject = identity.subject
    return delivery
  }

  /// Returns a delivery; `nil` when the vendor has not created the user yet, or would refuse the credential.
  private func delivery(_ purpose: String, of identity: IdentityRecord, now: Timestamp) -> Delivery? {
    guard let id = identity.user.id, let credential = identity.credential, !credential.hasExpired(at: now),
      let place = account.known(identity),
      let header = MessagingWire.Authorization(credential, of: identity.user).header
    else { return nil }
    // The instance may have another backend at the time of the delivery.
    var details: [String: Secret] = [
      "base_url": Secret(place.baseURL), "app_id": Secret(place.appId), "user": Secret(id),
      "authorization": Secret(header),
    ]
    details["integration_id"] = place.integrationId.map { Secret($0) }
    var delivery = Delivery(purpose, details: details, now: now)
    if let end = credential.expiresAt { delivery.deadline = min(delivery.deadline, end) }
    return delivery
  }

  func deliver(_ delivery: inout Delivery) async throws(SDKError) {
    let details = delivery.details
    guard let base = details["base_url"], let app = details["app_id"], let user = details["user"],
      let authorization = details["authorization"]
    else { return }
    let isLogout = delivery.purpose == Self.logout
    let path = isLogout ? "\(Self.path(user.reveal()))/logout" : clientPath(user.reveal())
    let body: JSONObject =
      isLogout ? ["client": ["id": .string(wire.clientId)]] : Self.body("", details["integration_id"]?.reveal())
    let answer = await wire.send(
      isLogout ? "POST" : "PUT", path, body: body, authorization: .written(authorization), base: base.reveal(),
      app: app.reveal())
    try succeeded(answer, credential: nil)
  }
}
