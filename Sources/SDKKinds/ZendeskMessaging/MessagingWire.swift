import JSONRPC
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Requests to the Messaging backend: paths, headers and bodies of `vendors.md` 1.2 and 1.3.
struct MessagingWire: Sendable {
  /// How a request says who it is from.
  enum Authorization {
    case none
    case bearer(Secret)
    case basic(user: String, password: Secret)

    /// The value of the header.
    var header: String? {
      switch self {
      case .none: nil
      case .bearer(let token): "Bearer \(token.reveal())"
      case .basic(let user, let password):
        "Basic \(Data("\(user):\(password.reveal())".utf8).base64EncodedString())"
      }
    }
  }

  private static let vendor = "Zendesk Messaging"
  private let settings: MessagingSettings
  private let common: CommonSettings
  private let services: AdapterServices
  /// Stable for the life of the instance, and no other instance's.
  let clientId: String

  init(settings: MessagingSettings, common: CommonSettings, services: AdapterServices) {
    self.settings = settings
    self.common = common
    self.services = services
    clientId = services.instance.filter { $0 != "-" }
  }

  /// What the vendor is told of this client.
  var client: JSON {
    var client: JSONObject = ["id": .string(clientId), "platform": "other"]
    client["integrationId"] = settings.integrationId.map(JSON.string)
    client["info"] = ["vendor": "sdkd", "sdkVersion": .string(SDKVersion.program), "os": "linux"]
    return .object(client)
  }

  /// Sends a request below `/v2/apps/{app}/`.
  func send(
    _ method: String, _ path: String, body: JSONObject? = nil, authorization: Authorization, identity: IdentityRecord
  ) async throws(SDKError) -> (VendorAnswer, MessagingPlace) {
    let place = try await place(identity)
    var headers = [
      ("Accept", "application/json"), ("x-smooch-appid", place.appId), ("x-smooch-clientid", clientId),
      ("x-smooch-sdk", "linux/sdkd/\(SDKVersion.program)"),
    ]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    if let header = authorization.header { headers.append(("Authorization", header)) }
    let answer = await exchange(
      method, "\(place.baseURL)/v2/apps/\(Self.segment(place.appId))/\(path)", headers,
      body: body.map { JSONWriter.bytes(of: .object($0)) })
    return (answer, place)
  }

  private func place(_ identity: IdentityRecord) async throws(SDKError) -> MessagingPlace {
    if let known = MessagingPlace(settings: settings, identity: identity) { return known }
    let refused = SDKError(
      .unreachable, .badResponse, "The vendor's settings name no app and base URL; check channel_key or settings_url.")
    guard let url = settings.settingsURL else { throw refused }
    let headers = [
      ("Accept", "application/json"), ("X-Zendesk-Client", "linux/sdkd"),
      ("X-Zendesk-Client-Version", SDKVersion.program), ("X-Zendesk-Api-Version", "2021-01-01"),
    ]
    switch await exchange("GET", url, headers, body: nil) {
    case .accepted(let json):
      guard let place = MessagingPlace(json, settings: settings) else { throw refused }
      try URLRule.check(place.baseURL, setting: "base_url")
      return place
    case .notFound:
      throw SDKError(
        .vendor, .notFound, "The vendor knows no such account; check channel_key or settings_url.", httpStatus: 404)
    case .unusable(let error): throw error
    case .unauthorized, .forbidden: throw refused
    }
  }

  private func exchange(
    _ method: String, _ url: String, _ headers: [(String, String)], body: [UInt8]?
  ) async -> VendorAnswer {
    let request = HTTPRequestParts(
      instance: services.instance, method: method, url: url, headers: headers.map { (name: $0.0, value: $0.1) },
      body: body, timeout: common.timeout, caFile: common.caFile)
    do throws(HTTPFailure) {
      return VendorAnswer(try await services.http.send(request), vendor: Self.vendor)
    } catch {
      return .unusable(error.error(vendor: Self.vendor))
    }
  }

  /// A vendor's id as one segment of a path.
  static func segment(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x7E: encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
