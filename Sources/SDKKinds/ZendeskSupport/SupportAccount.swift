import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization

/// The authentication type of the account's users, from the setting or the vendor.
///
/// An administrator can change it at any time. Before a value of the vendor refuses an identity, it is requested again,
/// at most once a minute.
final class SupportAccount: Sendable {
  private let settings: SupportSettings
  private let wire: SupportWire
  private let limit: RereadLimit
  private let heard = Mutex<SupportIdentity.Authentication?>(nil)

  init(settings: SupportSettings, wire: SupportWire, clock: WallClock) {
    self.settings = settings
    self.wire = wire
    limit = RereadLimit(clock: clock)
  }

  /// Returns the type that is known without a request.
  func known(_ identity: IdentityRecord) -> SupportIdentity.Authentication? {
    settings.authentication ?? remembered(identity)
  }

  /// Returns the type that the vendor stated, for storage with the identity; `nil` when it was never read.
  func remembered(_ identity: IdentityRecord) -> SupportIdentity.Authentication? {
    heard.withLock { $0 }
      ?? identity.kindState[SupportIdentity.authenticationKey].flatMap { .init(rawValue: $0.reveal()) }
  }

  /// Whether the account is known to require another type, and no new request is due.
  func excludes(_ type: SupportIdentity.Authentication, for identity: IdentityRecord) -> Bool {
    guard let known = known(identity), known != type else { return false }
    return !mayAskAgain
  }

  /// Returns the account's type. Requests it when it is unknown, or differs from `wanted` and may be outdated.
  ///
  /// - Throws: `network` when the settings can't be read, whatever the reason (`rows.md`, S3).
  func authentication(
    _ identity: IdentityRecord, wanted: SupportIdentity.Authentication, at place: SupportWire.Place
  ) async throws(SDKError) -> SupportIdentity.Authentication {
    if let known = known(identity), known == wanted || !mayAskAgain { return known }
    return try await read(at: place)
  }

  /// Returns the type that the account requires now, after it refused an identity; `nil` when that can't be found out.
  func authentication(afterRefusalAt place: SupportWire.Place) async -> SupportIdentity.Authentication? {
    guard mayAskAgain else { return nil }
    return try? await read(at: place)
  }

  private var mayAskAgain: Bool { settings.authentication == nil && limit.allows }

  private func read(at place: SupportWire.Place) async throws(SDKError) -> SupportIdentity.Authentication {
    let path = "/api/private/mobile_sdk/settings/\(PercentEncoding.segment(settings.appId)).json"
    let json: JSON
    switch await wire.send("GET", path, to: place) {
    case .accepted(let body): json = body
    case .unauthorized(let status, let code, let description): throw unreadable(status, code, description)
    case .forbidden(let code, let description): throw unreadable(403, code, description)
    case .notFound: throw unreadable(404, nil, nil)
    case .unusable(let error):
      throw unreadable(error.httpStatus, error.vendorCode, error.vendorDescription, retryAfter: error.retryAfter)
    }
    let word = json["authentication"]?.stringValue ?? json["core"]?["authentication"]?.stringValue
    guard let read = word.flatMap(SupportIdentity.Authentication.init) else { throw unreadable(nil, nil, nil) }
    // Only now: after a failure the next call reads again.
    limit.note()
    heard.withLock { $0 = read }
    return read
  }

  private func unreadable(
    _ status: Int?, _ code: VendorText?, _ description: VendorText?, retryAfter: Double? = nil
  ) -> SDKError {
    SDKError(
      .unreachable, .network,
      "The settings of the Zendesk Support app can't be read; check the network, base_url, app_id and client_id.",
      retryAfter: retryAfter, httpStatus: status, vendorCode: code, vendorDescription: description)
  }
}
