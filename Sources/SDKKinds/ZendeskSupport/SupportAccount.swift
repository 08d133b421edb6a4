import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization

/// How the account's users authenticate (`vendors.md` 2.1, first row): given, remembered with the identity, or asked
/// once.
final class SupportAccount: Sendable {
  private let settings: SupportSettings
  private let wire: SupportWire
  /// What the vendor said before there was an identity to keep it with.
  private let heard = Mutex<SupportIdentity.Authentication?>(nil)

  init(settings: SupportSettings, wire: SupportWire) {
    self.settings = settings
    self.wire = wire
  }

  /// What is known without asking.
  func known(_ identity: IdentityRecord) -> SupportIdentity.Authentication? {
    settings.authentication ?? remembered(identity)
  }

  /// What the vendor said, for keeping with the identity; `nil` when it was never asked.
  func remembered(_ identity: IdentityRecord) -> SupportIdentity.Authentication? {
    heard.withLock { $0 }
      ?? identity.kindState[SupportIdentity.authenticationKey].flatMap { .init(rawValue: $0.reveal()) }
  }

  /// Asks the vendor unless it is known.
  ///
  /// - Throws: `network` when the settings can't be read, whatever the reason (`sdks.md`, S3).
  func authentication(
    _ identity: IdentityRecord, at place: SupportWire.Place
  ) async throws(SDKError) -> SupportIdentity.Authentication {
    if let known = known(identity) { return known }
    let path = "/api/private/mobile_sdk/settings/\(PercentEncoding.segment(settings.appId)).json"
    let json: JSON
    switch await wire.send("GET", path, to: place) {
    case .accepted(let body): json = body
    case .unauthorized(let code, let description): throw unreadable(401, code, description)
    case .forbidden(let code, let description): throw unreadable(403, code, description)
    case .notFound: throw unreadable(404, nil, nil)
    case .unusable(let error):
      throw unreadable(error.httpStatus, error.vendorCode, error.vendorDescription, retryAfter: error.retryAfter)
    }
    let word = json["authentication"]?.stringValue ?? json["core"]?["authentication"]?.stringValue
    guard let read = word.flatMap(SupportIdentity.Authentication.init) else { throw unreadable(nil, nil, nil) }
    heard.withLock { $0 = read }
    return read
  }

  private func unreadable(
    _ status: Int?, _ code: String?, _ description: String?, retryAfter: Double? = nil
  ) -> SDKError {
    SDKError(
      .unreachable, .network,
      "The settings of the Zendesk Support app can't be read; check the network, base_url, app_id and client_id.",
      retryAfter: retryAfter, httpStatus: status, vendorCode: code, vendorDescription: description)
  }
}
