import JSONRPC
import SDKInstances
import SDKProtocol

/// Push registrations, which only v1 of the API has. The vendor keeps one for each device.
extension MessagingInAppAdapter {
  var pushRules: PushRules { PushRules(keepsOne: true, overwrites: true, skipsKnown: true) }

  func check(_ endpoint: PushEndpoint) throws(RPCError) {
    guard settings.generation == .v1 else {
      throw .invalidParams(
        "The API v2 of \(MessagingInAppAnswer.vendor) has no push; create the instance with api = \"v1\".",
        member: "endpoint")
    }
    guard Self.service(of: endpoint.type.rawValue) != nil else {
      throw .invalidParams(
        "\(MessagingInAppAnswer.vendor) sends to apns and fcm only; register one of these.", member: "endpoint.type")
    }
  }

  /// Returns the vendor's name of a push service; `nil` for one that it does not know.
  private static func service(of type: String) -> String? { ["apns": "APNS", "fcm": "FCM"][type] }

  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? {
    let service = Self.service(of: push.type) ?? push.type
    try await wire.registerDevice((push.address, service), token: try token(of: identity))
    return nil
  }

  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    try await wire.registerDevice(nil, token: try token(of: identity))
  }

  private func token(of identity: IdentityRecord) throws(SDKError) -> Secret {
    if let token = identity.credential?.token { return token }
    throw SDKError(.state, .notAuthenticated, "Nobody is signed in; sign in first.")
  }
}
