import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization

/// The base URL, the app and the rest that the vendor's settings state about an account.
///
/// The vendor can move an account at any time. After a request that finds nothing useful at the known place, the
/// settings are read again, at most once a minute, and the request is repeated where they lead. What they state then
/// is used for all requests, until the next login or renewal stores it with the identity.
final class MessagingAccount: Sendable {
  private struct Heard {
    var place: MessagingPlace?
    /// The URL of the realtime socket since the account has moved, and the one that identities have stored before.
    var realtime: (url: String?, former: String?)?
  }

  private let settings: MessagingSettings
  private let wire: MessagingWire
  private let services: AdapterServices
  private let limit: RereadLimit
  private let heard = Mutex(Heard())

  init(settings: MessagingSettings, wire: MessagingWire, services: AdapterServices) {
    self.settings = settings
    self.wire = wire
    self.services = services
    limit = RereadLimit(clock: services.clock)
  }

  /// Returns the place that is known without a request; `nil` when it was never read.
  func known(_ identity: IdentityRecord) -> MessagingPlace? {
    guard let stored = MessagingPlace(settings: settings, identity: identity) else { return nil }
    return stored.isFetched ? heard.withLock { $0.place } ?? stored : stored
  }

  /// Returns the URL of the realtime socket; `nil` without one.
  func realtimeURL(of identity: IdentityRecord) -> String? {
    if let url = settings.realtimeURL { return url }
    let stored = identity.kindState[MessagingPlace.realtimeKey]?.reveal()
    if let moved = heard.withLock({ $0.realtime }), moved.former == stored { return moved.url }
    return stored
  }

  /// Keeps the URL of the realtime socket at the place where the account is now, until a login stores one.
  func keep(realtime url: String?, of identity: IdentityRecord) {
    let former = identity.kindState[MessagingPlace.realtimeKey]?.reveal()
    heard.withLock { $0.realtime = (url, former) }
  }

  /// Makes a request at the account's place.
  ///
  /// - Parameter request: is made once more if the account has moved. `isMoved` is whether the place is another one
  ///   than the identity's, where the vendor does not know the identity's user yet.
  /// - Throws: also `notFound` for an account that the vendor does not know; `badResponse`; the errors of an outage.
  func atPlace<Result: Sendable>(
    of identity: IdentityRecord,
    _ request: (_ place: MessagingPlace, _ isMoved: Bool) async throws(SDKError) -> Result
  ) async throws(SDKError) -> Result {
    let stored = MessagingPlace(settings: settings, identity: identity)
    guard let known = known(identity), let stored else { return try await request(try await read(), false) }
    do throws(SDKError) {
      return try await request(known, known.isElsewhere(than: stored))
    } catch {
      guard known.isFetched, error.maySignifyMove, let present = await readAgain(), present != known else {
        throw error
      }
      // At the same place only what the vendor has refused is made once more: the rest may have been done.
      guard present.isElsewhere(than: known) || error.isMissing else { throw error }
      return try await request(present, present.isElsewhere(than: stored))
    }
  }

  /// Reads the settings again, unless that happened less than a minute ago; `nil` when nothing could be read.
  private func readAgain() async -> MessagingPlace? {
    guard limit.take(), let present = try? await read() else { return nil }
    heard.withLock { $0.place = present }
    return present
  }

  private func read() async throws(SDKError) -> MessagingPlace {
    let refused = SDKError(
      .unreachable, .badResponse, "The vendor's settings name no app and base URL; check channel_key or settings_url.")
    guard let url = settings.settingsURL else { throw refused }
    if settings.channelKey != nil { try checkChannelKey(leadingTo: url) }
    switch await wire.settings(at: url) {
    case .accepted(let json):
      guard let place = MessagingPlace(json, settings: settings) else { throw refused }
      guard place.baseURL == settings.baseURL || SuppliedURL.isUsable(place.baseURL, from: url, rule: services.supplied)
      else {
        throw SDKError(
          .unreachable, .badResponse,
          "The vendor's settings lead to a base URL that [network] allow does not list; set base_url, or list its host."
        )
      }
      return place
    case .notFound:
      throw SDKError(
        .vendor, .notFound, "The vendor knows no such account; check channel_key or settings_url.", httpStatus: 404)
    case .unusable(let error): throw error
    case .unauthorized, .forbidden: throw refused
    }
  }

  /// Checks the settings' URL of a channel key. The vendor made the key, so the URL is one that the vendor supplies.
  private func checkChannelKey(leadingTo url: String) throws(SDKError) {
    do throws(SDKError) {
      try services.supplied.check(url, what: "channel_key")
    } catch {
      throw SDKError(.unreachable, .badResponse, error.message, member: "channel_key").permanent
    }
  }
}

extension SDKError {
  /// Whether the error may mean that the vendor's account has moved: the vendor knows no such app or user, or can't be reached.
  fileprivate var maySignifyMove: Bool { isMissing || origin == .unreachable && reason != .rateLimited }

  /// Whether the vendor knows no such app or user.
  fileprivate var isMissing: Bool { reason == .notFound || httpStatus == 404 }
}
