import JSONRPC
import SDKInstances
import SDKProtocol

/// The end of a token, at the vendor too.
extension MessagingInAppAdapter {
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    guard identity.user.authenticationType != .sessionToken, let credential else {
      throw SDKError(.vendor, .notFound, "There is no token to revoke; the logout is local.")
    }
    do throws(SDKError) {
      try await wire.revoke(
        credential.token, deregisters: !MessagingInAppState(identity.kindState).keepsDevice)
    } catch {
      // A token that is over needs no end.
      guard isRefusal(error) else { throw error }
    }
  }

  /// The details of a cleanup delivery, which can't use the instance's settings: they may have changed by then.
  private enum Message {
    static let token = "access_token"
    static let base = "base_url"
    static let generation = "api"
    /// Present if the device's push registration stays at the vendor.
    static let keepsDevice = "keeps_device"
  }

  /// The purposes of cleanup deliveries.
  private enum Purpose {
    static let revoke = "revoke"
    /// A guest's token can't be revoked, but the device's push registration ends.
    static let unregister = "unregisterPush"
  }

  func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] {
    guard !isInformed, let credential = identity.credential, !identity.isRefused, !credential.hasExpired(at: now) else {
      return []
    }
    let isUser = identity.user.authenticationType == .jwt
    let keepsDevice = MessagingInAppState(identity.kindState).keepsDevice
    guard isUser || !pushes.isEmpty && !keepsDevice else { return [] }
    var details = [
      Message.token: credential.token, Message.base: Secret(settings.base),
      Message.generation: Secret(settings.generation.rawValue),
    ]
    details[Message.keepsDevice] = keepsDevice ? Secret("true") : nil
    return [Delivery(isUser ? Purpose.revoke : Purpose.unregister, details: details, now: now)]
  }

  func sessionKeys(endedBy delivery: Delivery) -> Set<Secret> {
    guard delivery.purpose == Purpose.revoke else { return [] }
    return delivery.details[Message.token].map { [$0] } ?? []
  }

  /// Whether the vendor may have removed the device of the present user, who has the same device id, with a former one's.
  func endsPushes(_ delivery: Delivery) -> Bool {
    delivery.details[Message.generation]?.reveal() == MessagingInAppSettings.Generation.v1.rawValue
      && delivery.details[Message.keepsDevice] == nil
  }

  func sparing(_ identity: IdentityRecord, in delivery: Delivery) -> Delivery? {
    delivery.details[Message.token] == identity.credential?.token ? nil : delivery
  }

  func deliver(_ delivery: inout Delivery) async throws(SDKError) {
    guard let token = delivery.details[Message.token] else { return }
    let generation = (delivery.details[Message.generation]?.reveal()).flatMap(MessagingInAppSettings.Generation.init)
    let place = MessagingInAppPlace(
      base: delivery.details[Message.base]?.reveal() ?? settings.base, generation: generation ?? .v2)
    guard delivery.purpose == Purpose.revoke else { return try await wire.registerDevice(nil, token: token, at: place) }
    try await wire.revoke(token, deregisters: delivery.details[Message.keepsDevice] == nil, at: place)
  }
}
