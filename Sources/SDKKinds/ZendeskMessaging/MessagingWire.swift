import JSONRPC
import SDKInstances
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A client for the Messaging backend, which builds paths, headers and bodies of requests and sends them.
struct MessagingWire: Sendable {
  /// The authorization of a request.
  enum Authorization {
    case none
    case bearer(Secret)
    case basic(user: String, password: Secret)
    /// A header value that another case produced before.
    case written(Secret)

    /// Creates the authorization for a user's credential.
    init(_ credential: Credential, of user: User) {
      self =
        credential.type == .jwt
        ? .bearer(credential.token) : .basic(user: user.id ?? "", password: credential.token)
    }

    /// The value of the header `Authorization`; `nil` for `none`.
    var header: String? {
      switch self {
      case .none: nil
      case .bearer(let token): "Bearer \(token.reveal())"
      case .basic(let user, let password):
        "Basic \(Data("\(user):\(password.reveal())".utf8).base64EncodedString())"
      case .written(let header): header.reveal()
      }
    }

    /// The secrets in the header.
    var secrets: [Secret] {
      switch self {
      case .none: []
      case .bearer(let token): [token]
      case .basic(_, let password): [password] + Self.words(header)
      case .written: Self.words(header)
      }
    }

    private static func words(_ header: String?) -> [Secret] {
      header.map { $0.split(separator: " ").dropFirst().map { Secret(String($0)) } } ?? []
    }
  }

  static let vendor = "Zendesk Messaging"
  private let common: CommonSettings
  private let services: AdapterServices
  /// The id of this client: the same for the life of the instance, and different from other instances'.
  let clientId: String

  init(common: CommonSettings, services: AdapterServices) {
    self.common = common
    self.services = services
    clientId = services.instanceDigits
  }

  /// Returns the description of this client for the vendor.
  ///
  /// - Parameter dropsPush: whether to end another user's push registration, which the vendor keeps with the client.
  func client(_ place: MessagingPlace, dropsPush: Bool = false) -> JSON {
    var client: JSONObject = ["id": .string(clientId), "platform": "other"]
    client["integrationId"] = place.integrationId.map(JSON.string)
    client["info"] = ["vendor": "sdkd", "sdkVersion": .string(SDKVersion.program), "os": "linux"]
    if dropsPush { client["pushNotificationToken"] = "" }
    return .object(client)
  }

  /// The secrets that the instance has sent lately.
  var history: SentHistory { services.history }

  /// Sends a request below `/v2/apps/{app}/`.
  func send(
    _ method: String, _ path: String, body: JSONObject? = nil, authorization: Authorization, secrets: [Secret] = [],
    at place: MessagingPlace
  ) async -> VendorAnswer {
    await send(
      method, path, body: body, authorization: authorization, secrets: secrets, base: place.baseURL, app: place.appId)
  }

  /// Sends a request below `/v2/apps/{app}/`.
  ///
  /// - Parameter secrets: the secrets in the body.
  func send(
    _ method: String, _ path: String, body: JSONObject?, authorization: Authorization, secrets: [Secret] = [],
    base: String, app: String
  ) async -> VendorAnswer {
    var headers = [
      ("Accept", "application/json"), ("x-smooch-appid", app), ("x-smooch-clientid", clientId),
      ("x-smooch-sdk", "linux/sdkd/\(SDKVersion.program)"),
    ]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    if let header = authorization.header { headers.append(("Authorization", header)) }
    return await exchange(
      method, "\(base)/v2/apps/\(PercentEncoding.segment(app))/\(path)", headers,
      body: body.map { JSONWriter.bytes(of: .object($0)) }, secrets: authorization.secrets + secrets)
  }

  /// Requests the vendor's settings of an account.
  func settings(at url: String) async -> VendorAnswer {
    let headers = [
      ("Accept", "application/json"), ("Accept-Language", "en"), ("X-Zendesk-Client", "linux/sdkd"),
      ("X-Zendesk-Client-Version", SDKVersion.program), ("X-Zendesk-Api-Version", "2021-01-01"),
    ]
    return await exchange("GET", url, headers, body: nil)
  }

  /// Returns the URL of the realtime socket that the vendor supplied; `nil` for none, and for one that may not be used.
  func realtimeURL(_ supplied: String?, at place: MessagingPlace) -> String? {
    guard let url = supplied.map(SuppliedURL.socket),
      SuppliedURL.isUsable(url, from: place.baseURL, secure: "wss", plain: "ws", rule: services.supplied)
    else { return nil }
    return url
  }

  /// Opens the realtime socket.
  func openSocket(_ url: String) async throws(SDKError) -> any VendorSocket {
    let request = SocketRequestParts(
      instance: services.instance, url: url, timeout: common.timeout, caFile: common.caFile)
    do throws(HTTPFailure) {
      return try await services.sockets.open(request)
    } catch {
      throw error.error(vendor: Self.vendor)
    }
  }

  private func exchange(
    _ method: String, _ url: String, _ headers: [(String, String)], body: [UInt8]?, secrets: [Secret] = []
  ) async -> VendorAnswer {
    let request = HTTPRequestParts(
      instance: services.instance, method: method, url: url, headers: headers.map { (name: $0.0, value: $0.1) },
      body: body, secrets: secrets, timeout: common.timeout, caFile: common.caFile,
      isRepeatable: method == "GET" || url.hasSuffix("/login"))
    do throws(HTTPFailure) {
      return VendorAnswer(try await services.send(request), vendor: Self.vendor)
    } catch {
      return .unusable(error.error(vendor: Self.vendor))
    }
  }
}

/// The rules for URLs that the vendor supplies.
enum SuppliedURL {
  /// Whether a URL of the vendor may be used. `rule` must allow it, and a loopback URL must come from a loopback URL.
  ///
  /// - Parameter supplier: the URL that supplied it.
  static func isUsable(
    _ url: String, from supplier: String, secure: String = "https", plain: String = "http", rule: SuppliedURLRule
  ) -> Bool {
    do throws(SDKError) {
      try rule.check(url, what: "url", secure: secure, plain: plain)
      return !URLRule.isLoopback(url) || URLRule.isLoopback(supplier)
    } catch {
      return false
    }
  }

  /// Returns a URL of the vendor as the URL of a WebSocket. The vendor may write it with the scheme of HTTP, from which
  /// a connection is upgraded.
  static func socket(_ url: String) -> String {
    for (scheme, other) in [("https://", "wss://"), ("http://", "ws://")] where url.lowercased().hasPrefix(scheme) {
      return other + url.dropFirst(scheme.count)
    }
    return url
  }
}
