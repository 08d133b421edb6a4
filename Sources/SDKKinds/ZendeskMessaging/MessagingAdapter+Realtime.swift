import JSONRPC
import SDKInstances
import SDKProtocol

/// The realtime socket: Bayeux on a WebSocket, with one subscription to the user's channel.
extension MessagingAdapter {
  func keepsConnection(for identity: IdentityRecord) -> Bool {
    settings.realtime != .off && identity.user.id != nil && identity.credential != nil
      && realtimeURL(of: identity) != nil
  }

  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection {
    guard let url = realtimeURL(of: identity), let user = identity.user.id, let credential = identity.credential else {
      throw SDKError(.unreachable, .network, "There is no realtime connection for this user.")
    }
    let place = try await wire.place(of: identity)
    let ext: JSONObject = [
      "appId": .string(place.appId), "appUserId": .string(user),
      credential.type == .jwt ? "jwt" : "sessionToken": .string(credential.token.reveal()),
    ]
    let socket = try await wire.openSocket(url)
    let client = Bayeux(
      channel: "/sdk/apps/\(place.appId)/appusers/\(user)", ext: ext, timeout: traits.common.timeout,
      resuming: former.take(for: identity))
    return MessagingConnection(
      socket, client, identity: identity, mode: mode(place), clock: clock, former: former)
  }
}
