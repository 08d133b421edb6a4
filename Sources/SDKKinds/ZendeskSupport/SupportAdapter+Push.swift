import JSONRPC
import SDKInstances
import SDKProtocol

/// Push registrations at `/api/mobile/push_notification_devices`.
extension SupportAdapter {
  private static let devices = "/api/mobile/push_notification_devices"
  private static let unregister = "unregisterPush"

  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? {
    var device: JSONObject = [
      "identifier": .string(push.address.reveal()), "device_type": .string(Self.deviceType(push.type)),
      "token_type": .string(push.type),
    ]
    let guid = identity.kindState[SupportIdentity.guidKey]
    device["locale"] = push.locale.map(JSON.string)
    device["sdk_guid"] = guid.map { .string($0.reveal()) }
    let answer = await wire.send(
      "POST", "\(Self.devices).json", body: ["push_notification_device": .object(device)],
      secrets: [push.address], token: identity.credential?.token, guid: guid, to: place)
    let json = try SupportAccess.accept(answer)
    return (json["push_notification_device"] ?? json)["id"].flatMap(SupportAccess.id)
  }

  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    try await remove(
      Secret(push.vendorId ?? push.address.reveal()), token: identity.credential?.token,
      guid: identity.kindState[SupportIdentity.guidKey], at: place)
  }

  func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] {
    guard let token = identity.credential?.token else { return [] }
    return pushes.map { push in
      // The instance may have another backend at the time of the delivery.
      var details = [
        "device": Secret(push.vendorId ?? push.address.reveal()), "token": token, "base_url": Secret(settings.baseURL),
        "client_id": Secret(settings.clientId),
      ]
      details["guid"] = identity.kindState[SupportIdentity.guidKey]
      return Delivery(Self.unregister, details: details, now: now)
    }
  }

  func deliver(_ delivery: inout Delivery) async throws(SDKError) {
    guard delivery.purpose == Self.unregister, let device = delivery.details["device"],
      let base = delivery.details["base_url"], let client = delivery.details["client_id"]
    else { return }
    try await remove(
      device, token: delivery.details["token"], guid: delivery.details["guid"],
      at: .init(baseURL: base.reveal(), clientId: client.reveal()))
  }

  /// Removes a device. A device that the vendor does not know counts as removed.
  private func remove(
    _ device: Secret, token: Secret?, guid: Secret?, at place: SupportWire.Place
  ) async throws(SDKError) {
    let path = "\(Self.devices)/\(PercentEncoding.segment(device.reveal())).json"
    switch await wire.send("DELETE", path, token: token, guid: guid, to: place) {
    case .notFound: return
    // The body does not matter: any 2xx is a success.
    case .unusable(let error) where (200..<300).contains(error.httpStatus ?? 0) && !error.isPermanent: return
    case let answer: try SupportAccess.accept(answer)
    }
  }

  private static func deviceType(_ type: String) -> String {
    switch type {
    case "apns": "ios"
    case "fcm": "android"
    default: "other"
    }
  }
}
