import Foundation
import JSONRPC

extension InAppBackend {
  /// Exchanges an identity JWT for an access token. One that can't be verified is refused, or answered with a guest's
  /// token, as the options say.
  ///
  /// - Parameter type: the type of deployment that the API is for.
  mutating func exchange(_ call: BackendCall, for type: String) throws(InAppRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    let deployment = try deployment(of: body, type: type)
    guard Self.deployments[deployment]?.authMode == "Auth" else {
      throw InAppRefusal(403, "User verification is not enabled for the deployment's channel.")
    }
    guard !settings.isWithoutSchemes else { throw .noActiveSchemes }
    guard body?["authorizationType"] == "JWT", let text = body?["customerIdentityToken"]?.stringValue else {
      throw InAppRefusal(400, "authorizationType and customerIdentityToken are required")
    }
    let device = body?["deviceId"]?.stringValue
    do throws(InAppRefusal) {
      if settings.saysExpired { throw .expired }
      let subject = try keysets.subject(of: text, now: call.now)
      guard !settings.answersGuest else { throw .identity("the options ask for a guest") }
      let name = "v2/iamessage/AUTH/\(Self.verification)/uid:\(settings.subject ?? subject)"
      return answer(for: name, deployment: deployment, device: device, call.now)
    } catch {
      guard settings.answersGuest else { throw error }
      return answer(for: newGuest(), deployment: deployment, device: device, call.now)
    }
  }

  mutating func makeGuest(_ call: BackendCall, for type: String) throws(InAppRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    let deployment = try guestDeployment(of: body, type: type)
    guard body?["deviceId"] == nil || body?["platform"] != "Web" else {
      throw InAppRefusal(400, "deviceId is not allowed for platform Web")
    }
    return answer(for: newGuest(), deployment: deployment, call.now)
  }

  mutating func continuation(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let access = try authorized(call).access
    let text = issue(
      access.subject, access.deployment, device: access.device, expires: access.expires, call.now,
      isContinuation: true)
    return ["accessToken": .string(text), "lastEventId": "0"]
  }

  mutating func revoke(_ call: BackendCall) throws(InAppRefusal) {
    let (text, access) = try authorized(call)
    guard access.subject.contains("/AUTH/") else { throw InAppRefusal(403, "Forbidden", note: "a guest's token") }
    accessTokens[text]?.isRevoked = true
    if JSON(parsing: call.body)?["deregisterDevice"] == true { devices[deviceKey(access)] = nil }
  }

  /// The name of the user verification configuration.
  private static let verification = "sandbox"

  private func guestDeployment(of body: JSON?, type: String) throws(InAppRefusal) -> String {
    let deployment = try deployment(of: body, type: type)
    guard Self.deployments[deployment]?.authMode == "UnAuth" else {
      throw InAppRefusal(403, "User verification is required for the deployment's channel.")
    }
    return deployment
  }

  private func deployment(of body: JSON?, type: String) throws(InAppRefusal) -> String {
    guard let organization = body?["orgId"]?.stringValue,
      organization.prefix(15) == DemoAccounts.inAppOrganizationID, [15, 18].contains(organization.utf8.count)
    else { throw .notFound("Organization") }
    guard body?["capabilitiesVersion"] != nil, type == "mobile" || body?["platform"] != nil else {
      throw InAppRefusal(400, "capabilitiesVersion and platform are required")
    }
    return try deployment(
      body?[type == "mobile" ? "developerName" : "esDeveloperName"]?.stringValue, type: type)
  }

  private mutating func newGuest() -> String {
    guests += 1
    return "v2/iamessage/UNAUTH/NA/uid:\(UUID().uuidString.lowercased())"
  }

  private mutating func answer(
    for subject: String, deployment: String, device: String? = nil, _ now: Date
  ) -> JSON {
    let end = now.addingTimeInterval(settings.ttl)
    let text = settings.accessToken ?? issue(subject, deployment, device: device, expires: end, now)
    var answer: [String: JSON] = [
      "accessToken": .string(text), "lastEventId": .string(String(settings.lastEventID)),
    ]
    if Self.deployments[deployment]?.type == "api" {
      answer["context"] = [
        "configuration": Self.configuration(of: deployment), "endUser": ["subject": .string(subject)],
      ]
    }
    return .object(answer)
  }

  /// Issues an access token: a JWT under a signature that no client checks.
  private mutating func issue(
    _ subject: String, _ deployment: String, device: String?, expires: Date, _ now: Date,
    isContinuation: Bool = false
  ) -> String {
    let client = UUID().uuidString.lowercased()
    let claims = JSON.of([
      "sub": .string(subject), "clientId": .string("v1/\(deployment)/\(client)"), "channelAddId": "sandbox-channel",
      "capabilitiesVersion": "1", "orgId": .string(DemoAccounts.inAppOrganizationID),
      "iat": .number(now.timeIntervalSince1970.rounded(.down)),
      "exp": .number(expires.timeIntervalSince1970.rounded(.up)), "jti": .string(client),
    ])
    let text = HS256.token(claims, kid: "sandbox", secret: client)
    accessTokens[text] = .init(
      subject: subject, deployment: deployment, expires: expires, device: device, isContinuation: isContinuation)
    return text
  }

  // MARK: What only v1 has

  /// Makes a guest who can be renewed.
  mutating func makePersistedGuest(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    let deployment = try guestDeployment(of: body, type: "mobile")
    guard let device = body?["deviceId"]?.stringValue else { throw InAppRefusal(400, "deviceId is required") }
    return persisted(newGuest(), deployment, device, call.now)
  }

  /// Renews a guest: a new access token and a new refresh token. The former refresh token is over.
  mutating func renewGuest(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    guard let text = body?["refreshToken"]?.stringValue, let refresh = refreshTokens[text], !refresh.isUsed else {
      throw .unauthorized("no valid refresh token")
    }
    guard let access = body?["accessToken"]?.stringValue, accessTokens[access]?.subject == refresh.subject else {
      throw .unauthorized("another guest's access token")
    }
    guard body?["deviceId"]?.stringValue == refresh.device, body?["capabilitiesVersion"] != nil else {
      throw InAppRefusal(400, "deviceId and capabilitiesVersion are required", note: "another device")
    }
    refreshTokens[text]?.isUsed = true
    return persisted(refresh.subject, refresh.deployment, refresh.device, call.now)
  }

  private mutating func persisted(_ subject: String, _ deployment: String, _ device: String?, _ now: Date) -> JSON {
    var answer = answer(for: subject, deployment: deployment, device: device, now)
    let text = "sandbox-refresh-\(UUID().uuidString.lowercased())"
    refreshTokens[text] = .init(subject: subject, deployment: deployment, device: device)
    if case .object(var members) = answer {
      members["refreshToken"] = .string(text)
      answer = .object(members)
    }
    return answer
  }

  /// Records the device's address for push messages, or removes it when there is none.
  mutating func registerDevice(_ call: BackendCall) throws(InAppRefusal) {
    let access = try authorized(call).access
    let body = JSON(parsing: call.body)
    guard let token = body?["deviceToken"]?.stringValue else {
      devices[deviceKey(access)] = nil
      return
    }
    guard let service = body?["pushServiceProvider"]?.stringValue, ["FCM", "APNS"].contains(service) else {
      throw InAppRefusal(400, "pushServiceProvider must be FCM or APNS")
    }
    devices[deviceKey(access)] = .init(subject: access.subject, token: token, service: service)
  }

  private func deviceKey(_ access: Access) -> String { access.device ?? access.subject }
}
