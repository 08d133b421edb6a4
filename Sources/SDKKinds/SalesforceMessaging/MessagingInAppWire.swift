import JSONRPC
import SDKInstances
import SDKProtocol

/// A client for the vendor's public REST API (`/iamessage/api/v2`), which builds requests and sends them.
struct MessagingInAppWire: Sendable {
  let settings: MessagingInAppSettings
  let services: AdapterServices
  let budget: MessagingInAppBudget

  private static let path = "/iamessage/api/v2/authorization"
  private static let authenticated = "\(path)/authenticated/access-token"

  /// The id of this device: the same for the life of the instance, and different from other instances'.
  var deviceId: String { settings.deviceId ?? services.instance.lowercased() }

  /// Exchanges an identity JWT for an access token.
  ///
  /// - Parameters:
  ///   - isLogin: whether a login waits for it. A renewal waits for its turn when the organisation has made too many.
  ///   - hasExpired: whether the JWT has expired by the clock, which then explains a refusal.
  func exchange(
    _ jwt: Secret, isLogin: Bool, hasExpired: Bool, hints: [String]
  ) async throws(SDKError) -> MessagingInAppGrant {
    try await takeTurn(isLogin: isLogin)
    var body = self.body
    body["authorizationType"] = "JWT"
    body["customerIdentityToken"] = .string(jwt.reveal())
    if settings.sendDeviceId != .never { body["deviceId"] = .string(deviceId) }
    let answer = try await send("POST", Self.authenticated, body: body, secrets: [jwt], isRepeatable: true)
    guard answer.isSuccess else { throw noted(answer.exchangeFailure(hasExpired: hasExpired, hints: hints)) }
    return try MessagingInAppGrant(answer)
  }

  private var organization: MessagingInAppBudget.Organization { .init(base: settings.base, id: settings.shortOrgId) }

  /// Waits until the organisation may make another exchange, at most the instance's `timeout`. A login does not wait.
  private func takeTurn(isLogin: Bool) async throws(SDKError) {
    var left = isLogin ? 0 : settings.common.timeout
    while let wait = budget.take(organization, isLogin: isLogin, now: services.clock.machine()) {
      guard wait <= left, (try? await Task.sleep(for: .seconds(wait))) != nil else {
        throw SDKError(
          .unreachable, .rateLimited,
          "The instances of this organisation have made too many exchanges; the vendor has a limit. Try again later.",
          retryAfter: wait)
      }
      left -= wait
    }
  }

  /// Returns a failure. If it asks for fewer requests, it counts for all instances of the organisation.
  private func noted(_ failure: SDKError) -> SDKError {
    if failure.reason == .rateLimited, let wait = failure.retryAfter {
      budget.close(organization, for: wait, now: services.clock.machine())
    }
    return failure
  }

  /// Requests the access token of a new guest.
  func makeGuest() async throws(SDKError) -> MessagingInAppGrant {
    try await takeTurn(isLogin: true)
    var body = self.body
    if settings.sendDeviceId == .always { body["deviceId"] = .string(deviceId) }
    let answer = try await send("POST", "\(Self.path)/unauthenticated/access-token", body: body)
    guard answer.isSuccess else { throw noted(answer.exchangeFailure(hasExpired: false, hints: [])) }
    return try MessagingInAppGrant(answer)
  }

  /// Requests an access token for one more reader, which ends with this one.
  func continuation(_ token: Secret) async throws(SDKError) -> MessagingInAppGrant {
    let answer = try await send("GET", "\(Self.path)/continuation-access-token", bearer: token, isRepeatable: true)
    guard answer.isSuccess else { throw answer.callFailure }
    return try MessagingInAppGrant(answer)
  }

  /// Ends a user's access token.
  ///
  /// - Parameter base: the vendor's URL, if it is not that of the settings any more.
  func revoke(_ token: Secret, at base: String? = nil) async throws(SDKError) {
    let answer = try await send("DELETE", Self.authenticated, bearer: token, at: base)
    guard answer.isSuccess else { throw answer.callFailure }
  }

  /// The members that all requests for a token have.
  private var body: JSONObject {
    [
      "orgId": .string(settings.orgId ?? ""), "esDeveloperName": .string(settings.developerName ?? ""),
      "capabilitiesVersion": .string(settings.capabilitiesVersion ?? "1"),
      "platform": .string(settings.platform ?? "Web"),
      "context": [
        "appName": .string(settings.appName ?? "sdkd"),
        "clientVersion": .string(settings.clientVersion ?? SDKVersion.program),
      ],
    ]
  }

  private func send(
    _ method: String, _ path: String, bearer: Secret? = nil, body: JSONObject? = nil, secrets: [Secret] = [],
    at base: String? = nil, isRepeatable: Bool = false
  ) async throws(SDKError) -> MessagingInAppAnswer {
    var headers = [
      (name: "Accept", value: "application/json"), (name: "User-Agent", value: "sdkd/\(SDKVersion.program)"),
    ]
    if let bearer { headers.append((name: "Authorization", value: "Bearer \(bearer.reveal())")) }
    if body != nil { headers.append((name: "Content-Type", value: "application/json")) }
    let request = HTTPRequestParts(
      instance: services.instance, method: method, url: (base ?? settings.base) + path, headers: headers,
      body: body.map { JSONWriter.bytes(of: .object($0)) }, secrets: secrets + (bearer.map { [$0] } ?? []),
      timeout: settings.common.timeout, caFile: settings.common.caFile, isRepeatable: isRepeatable)
    do throws(HTTPFailure) {
      return MessagingInAppAnswer(try await services.send(request))
    } catch {
      throw error.error(vendor: MessagingInAppAnswer.vendor)
    }
  }
}

/// An access token that the vendor has issued.
struct MessagingInAppGrant {
  let token: Secret
  let claims: MessagingInAppClaims
  let lastEventId: String?
  /// How the channel authenticates users, such as `Auth` or `UnAuth`; `nil` if the vendor does not say.
  let authMode: String?

  /// Reads a response that accepted a request.
  ///
  /// - Throws: `badResponse` if it has no usable access token.
  init(_ answer: MessagingInAppAnswer) throws(SDKError) {
    let json = try answer.accepted()
    guard let text = json["accessToken"]?.stringValue, (1...TextLimits.token).contains(text.utf8.count),
      OpaqueText.mistake(Secret(text)) == nil, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw SDKError(
        .unreachable, .badResponse,
        "\(MessagingInAppAnswer.vendor) accepted the request, but its answer has no usable accessToken; try again later.",
        httpStatus: answer.response.status)
    }
    token = Secret(text)
    claims = MessagingInAppClaims(token)
    lastEventId = (json["lastEventId"]?.stringValue).flatMap(MessagingInAppState.digits)
    authMode =
      json["context"]?["configuration"]?["embeddedServiceConfig"]?["embeddedServiceMessagingChannel"]?["authMode"]?
      .stringValue
  }
}
