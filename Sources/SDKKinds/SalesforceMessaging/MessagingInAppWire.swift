import JSONRPC
import SDKInstances
import SDKProtocol

/// A client for the vendor's API, which builds requests and sends them. The settings say which generation it speaks:
/// the public REST API (`/iamessage/api/v2`), or that of the mobile SDKs (`/iamessage/v1`).
struct MessagingInAppWire: Sendable {
  let settings: MessagingInAppSettings
  let services: AdapterServices
  let budget: MessagingInAppBudget

  private var paths: MessagingInAppPaths { settings.generation.paths }

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
    let answer = try await send("POST", paths.user + query, body: body, secrets: [jwt], isRepeatable: true)
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
    if settings.sendsDeviceIdOfGuests { body["deviceId"] = .string(deviceId) }
    let answer = try await send("POST", paths.guest + query, body: body)
    guard answer.isSuccess else { throw noted(answer.exchangeFailure(hasExpired: false, hints: [])) }
    return try MessagingInAppGrant(answer)
  }

  /// Requests the next access token of a guest, which spends the refresh token. v1 only.
  func renewGuest(_ token: Secret, refreshToken: Secret) async throws(SDKError) -> MessagingInAppAnswer {
    try await takeTurn(isLogin: false)
    let body: JSONObject = [
      "accessToken": .string(token.reveal()), "refreshToken": .string(refreshToken.reveal()),
      "deviceId": .string(deviceId), "capabilitiesVersion": .string(capabilitiesVersion),
    ]
    let answer = try await send("POST", paths.renewal, body: body, secrets: [token, refreshToken])
    guard answer.isSuccess else { throw noted(answer.renewalFailure) }
    return answer
  }

  /// Requests an access token for one more reader, which ends with this one.
  func continuation(_ token: Secret) async throws(SDKError) -> MessagingInAppGrant {
    let answer = try await send("GET", paths.continuation, bearer: token, isRepeatable: true)
    guard answer.isSuccess else { throw answer.callFailure }
    return try MessagingInAppGrant(answer)
  }

  /// Ends a user's access token.
  ///
  /// - Parameters:
  ///   - deregisters: whether the device's push registration ends too. v1 only: v2 has none.
  ///   - place: the vendor's URL and generation, if they are not those of the settings any more.
  func revoke(_ token: Secret, deregisters: Bool, at place: MessagingInAppPlace? = nil) async throws(SDKError) {
    let place = place ?? self.place
    let body: JSONObject = ["deregisterDevice": .bool(deregisters)]
    let answer = try await send(
      place.generation == .v1 ? "POST" : "DELETE", place.generation.paths.end, bearer: token,
      body: place.generation == .v1 ? body : nil, at: place.base)
    guard answer.isSuccess else { throw answer.callFailure }
  }

  /// Tells the vendor the address of the device for push messages, or that it takes none. v1 only.
  func registerDevice(
    _ device: (address: Secret, service: String)?, token: Secret, at place: MessagingInAppPlace? = nil
  ) async throws(SDKError) {
    var body: JSONObject = [:]
    if let device {
      body = ["deviceToken": .string(device.address.reveal()), "pushServiceProvider": .string(device.service)]
    }
    let answer = try await send(
      "POST", "/iamessage/v1/device/registerDeviceCapabilities", bearer: token, body: body,
      secrets: device.map { [$0.address] } ?? [], at: place?.base)
    guard answer.isSuccess else { throw answer.callFailure }
  }

  /// The vendor's place by the settings.
  var place: MessagingInAppPlace { .init(base: settings.base, generation: settings.generation) }

  private var capabilitiesVersion: String {
    settings.capabilitiesVersion ?? (settings.generation == .v1 ? "260" : "1")
  }
  private var appName: String { settings.appName ?? "sdkd" }
  private var clientVersion: String { settings.clientVersion ?? SDKVersion.program }

  /// The members that all requests for a first token have.
  private var body: JSONObject {
    let deployment = JSON.string(settings.developerName ?? "")
    let common: JSONObject = [
      "orgId": .string(settings.orgId ?? ""), "capabilitiesVersion": .string(capabilitiesVersion),
    ]
    switch settings.generation {
    case .v1: return common.merged(with: ["developerName": deployment])
    case .v2:
      return common.merged(with: [
        "esDeveloperName": deployment, "platform": .string(settings.platform ?? "Web"),
        "context": ["appName": .string(appName), "clientVersion": .string(clientVersion)],
      ])
    }
  }

  /// The query of requests for a first token, which tells v1 about the client; empty for v2.
  private var query: String {
    guard settings.generation == .v1 else { return "" }
    let items = [
      ("AppName", appName), ("DeviceType", settings.deviceType ?? "Linux"), ("Os", "Linux"),
      ("OsVersion", KernelRelease.text), ("ClientVersion", clientVersion),
    ]
    return "?" + items.map { "\($0)=\(PercentEncoding.value($1))" }.joined(separator: "&")
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
  /// The refresh token of a guest, which v1 issues.
  let refreshToken: Secret?
  /// How the channel authenticates users, such as `Auth` or `UnAuth`; `nil` if the vendor does not say.
  let authMode: String?

  /// Reads a response that accepted a request.
  ///
  /// - Throws: `badResponse` if it has no usable access token.
  init(_ answer: MessagingInAppAnswer) throws(SDKError) {
    let json = try answer.accepted()
    guard let token = MessagingInAppAnswer.token(json["accessToken"]) else {
      throw SDKError(
        .unreachable, .badResponse,
        "\(MessagingInAppAnswer.vendor) accepted the request, but its answer has no usable accessToken; try again later.",
        httpStatus: answer.response.status)
    }
    self.token = token
    refreshToken = MessagingInAppAnswer.token(json["refreshToken"])
    claims = MessagingInAppClaims(token)
    lastEventId = (json["lastEventId"]?.stringValue).flatMap(MessagingInAppState.digits)
    authMode =
      json["context"]?["configuration"]?["embeddedServiceConfig"]?["embeddedServiceMessagingChannel"]?["authMode"]?
      .stringValue
  }
}
