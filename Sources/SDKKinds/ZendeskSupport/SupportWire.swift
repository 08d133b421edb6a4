import JSONRPC
import SDKInstances
import SDKProtocol

/// A client for the Support backend, which builds paths, headers and bodies of requests and sends them.
struct SupportWire: Sendable {
  static let vendor = "Zendesk Support"
  let common: CommonSettings
  let services: AdapterServices

  /// The backend and the app of a request.
  struct Place: Sendable {
    let baseURL: String
    let clientId: String
  }

  /// The number of retries of an exchange that conflicts with another, and the seconds before the first one. The pause
  /// doubles each time.
  private static let conflictRetries = 3
  private static let conflictPause = 0.1

  /// Sends a request with guid and token in its headers.
  ///
  /// - Parameters:
  ///   - secrets: the secrets in the body.
  ///   - isExchange: whether the request is an exchange, which may be repeated.
  func send(
    _ method: String, _ path: String, body: JSONObject? = nil, secrets: [Secret] = [], token: Secret? = nil,
    guid: Secret? = nil, isExchange: Bool = false, to place: Place
  ) async -> VendorAnswer {
    var headers = [
      ("Accept", "application/json"), ("Accept-Language", "en"), ("Client-Identifier", place.clientId),
      ("X-Zendesk-Client", "linux/sdkd"), ("X-Zendesk-Client-Version", SDKVersion.program),
    ]
    if let guid { headers.append(("Mobile-Sdk-Identity", guid.reveal())) }
    if body != nil { headers.append(("Content-Type", "application/json")) }
    if let token { headers.append(("Authorization", "Bearer \(token.reveal())")) }
    let request = HTTPRequestParts(
      instance: services.instance, method: method, url: place.baseURL + path,
      headers: headers.map { (name: $0.0, value: $0.1) }, body: body.map { JSONWriter.bytes(of: .object($0)) },
      secrets: secrets + [token, guid].compactMap { $0 }, timeout: common.timeout, caFile: common.caFile,
      isRepeatable: method == "GET" || isExchange)
    do throws(HTTPFailure) {
      return VendorAnswer(try await services.send(request), vendor: Self.vendor)
    } catch {
      return .unusable(error.error(vendor: Self.vendor))
    }
  }

  /// Sends an exchange. It is repeated after a 409, the conflict with another exchange.
  func exchange(
    _ path: String, body: JSONObject, secrets: [Secret], guid: Secret, to place: Place
  ) async -> VendorAnswer {
    func attempt() async -> VendorAnswer {
      await send("POST", path, body: body, secrets: secrets, guid: guid, isExchange: true, to: place)
    }
    var pause = Self.conflictPause
    for _ in 0..<Self.conflictRetries {
      let answer = await attempt()
      guard case .unusable(let error) = answer, error.httpStatus == 409 else { return answer }
      do { try await ContinuousClock().sleep(for: .seconds(pause)) } catch { return answer }
      pause *= 2
    }
    return await attempt()
  }
}
