import JSONRPC
import SDKInstances
import SDKProtocol

extension SalesforceAdapter {
  /// The keys of the values in a cleanup delivery. A delivery can't use the instance's settings, which may have changed
  /// by the time it is sent.
  private enum Key {
    static let loginURL = "login_url"
    static let accessToken = "access_token"
    static let devices = "devices"
    static let keepsToken = "keeps_token"
  }

  /// The maximum number of attempts to remove the devices. Afterwards the token is revoked anyway, although the removal
  /// needs it.
  private static let patience = 5

  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    guard let account = SalesforceAccount(identity.kindState),
      let token = account.refreshToken ?? credential?.token
    else { return }
    try await wire.revoke(token, at: wire.loginURL(account))
  }

  func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] {
    guard !isInformed, let account = SalesforceAccount(identity.kindState),
      identity.credential != nil || account.refreshToken != nil
    else { return [] }
    var details = account.state
    details[Key.loginURL] = Secret(wire.loginURL(account))
    details[Key.accessToken] = identity.credential?.token
    // Vendor ids have no spaces.
    let devices = pushes.compactMap(\.vendorId).joined(separator: " ")
    if !devices.isEmpty { details[Key.devices] = Secret(devices) }
    return [Delivery("revoke", details: details, now: now)]
  }

  func sparing(_ identity: IdentityRecord, in delivery: Delivery) -> Delivery? {
    guard !sessionKeys(endedBy: delivery).isDisjoint(with: sessionKeys(of: identity)) else { return delivery }
    var spared = delivery
    spared.details[Key.keepsToken] = Secret("true")
    // A refresh may rotate the token, which only its user may do.
    spared.details[SalesforceAccount.refreshTokenKey] = nil
    return spared.details[Key.devices] == nil ? nil : spared
  }

  /// Returns the keys of the grant, also for the removal of devices: that may spend the refresh token.
  func sessionKeys(endedBy delivery: Delivery) -> Set<Secret> {
    guard delivery.details[Key.keepsToken] == nil else { return [] }
    return SalesforceAccount(delivery.details)?.sessionKeys(delivery.details[Key.accessToken]) ?? []
  }

  /// Removes the devices, or revokes the token that their removal needs.
  func deliver(_ delivery: inout Delivery) async throws(SDKError) {
    guard SalesforceAccount(delivery.details) != nil, let loginURL = delivery.details[Key.loginURL]?.reveal() else {
      return
    }
    if let devices = delivery.details[Key.devices] {
      do throws(SDKError) {
        for device in devices.reveal().split(separator: " ") { try await remove(String(device), &delivery.details) }
      } catch {
        if error.origin == .unreachable, delivery.attempts < Self.patience { throw error }
      }
      return
    }
    guard delivery.details[Key.keepsToken] == nil,
      let token = SalesforceAccount(delivery.details)?.refreshToken ?? delivery.details[Key.accessToken]
    else { return }
    try await wire.revoke(token, at: loginURL)
  }

  func rest(of delivery: Delivery) -> Delivery? {
    guard delivery.details[Key.devices] != nil, delivery.details[Key.keepsToken] == nil else { return nil }
    var rest = delivery
    rest.details[Key.devices] = nil
    return rest
  }

  /// Removes a device. If the access token is refused, it is refreshed once.
  ///
  /// - Parameter details: the details of the delivery. A refresh leaves the new tokens in them, since it may have spent
  ///   the former ones.
  private func remove(_ device: String, _ details: inout [String: Secret]) async throws(SDKError) {
    guard let account = SalesforceAccount(details), let access = details[Key.accessToken] else { return }
    do throws(SDKError) {
      return try await wire.deleteDevice(device, token: access, at: account.instanceURL)
    } catch {
      if error.reason == .notFound { return }
      guard isRefusal(error), account.refreshToken != nil else { throw error }
    }
    var nobody = IdentityRecord(phase: .loggedOut)
    nobody.kindState = account.state
    let result = try await refreshed(account, with: access, of: nobody)
    details.merge(result.kindState) { _, new in new }
    if let failure = result.failure { throw failure }
    guard let fresh = result.credential?.token else { return }
    details[Key.accessToken] = fresh
    do throws(SDKError) {
      let place = SalesforceAccount(details) ?? account
      try await wire.deleteDevice(device, token: fresh, at: place.instanceURL)
    } catch {
      guard error.reason == .notFound else { throw error }
    }
  }

  // MARK: Push

  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? {
    let (account, token) = try place(of: identity)
    let names = ["apns": "Apple", "fcm": "androidGcm"]
    guard let type = names[push.type] else {
      throw SDKError(
        .local, .invalidAuthParameters, "Salesforce sends to apns and fcm only; register one of these.",
        member: "endpoint.type")
    }
    var fields: JSONObject = ["ConnectionToken": .string(push.address.reveal()), "ServiceType": .string(type)]
    fields["NetworkId"] = account.communityId.map(JSON.string)
    return try await wire.createDevice(fields, token: token, at: account.instanceURL)
  }

  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    guard let id = push.vendorId else { return }
    let (account, token) = try place(of: identity)
    try await wire.deleteDevice(id, token: token, at: account.instanceURL)
  }

  private func place(of identity: IdentityRecord) throws(SDKError) -> (SalesforceAccount, Secret) {
    guard let account = SalesforceAccount(identity.kindState), let token = identity.credential?.token else {
      throw SDKError(.state, .notAuthenticated, "This service has no authentication settings; set them first.")
    }
    return (account, token)
  }
}
