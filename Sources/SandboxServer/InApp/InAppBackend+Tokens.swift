import Foundation
import JSONRPC

extension InAppBackend {
  /// Exchanges an identity JWT for an access token. One that can't be verified is refused, or answered with a guest's
  /// token, as the options say.
  mutating func exchange(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    let deployment = try deployment(of: body)
    guard Self.deployments[deployment] == "Auth" else {
      throw InAppRefusal(403, "User verification is not enabled for the deployment's channel.")
    }
    guard !settings.isWithoutSchemes else { throw .noActiveSchemes }
    guard body?["authorizationType"] == "JWT", let text = body?["customerIdentityToken"]?.stringValue else {
      throw InAppRefusal(400, "authorizationType and customerIdentityToken are required")
    }
    do throws(InAppRefusal) {
      let subject = try verifiedSubject(text, now: call.now)
      guard !settings.answersGuest else { throw .identity("the options ask for a guest") }
      let name = "v2/iamessage/AUTH/\(Self.verification)/uid:\(settings.subject ?? subject)"
      return answer(for: name, deployment: deployment, call.now)
    } catch {
      guard settings.answersGuest else { throw error }
      return answer(for: newGuest(), deployment: deployment, call.now)
    }
  }

  mutating func makeGuest(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    let deployment = try deployment(of: body)
    guard Self.deployments[deployment] == "UnAuth" else {
      throw InAppRefusal(403, "User verification is required for the deployment's channel.")
    }
    guard body?["deviceId"] == nil || body?["platform"] != "Web" else {
      throw InAppRefusal(400, "deviceId is not allowed for platform Web")
    }
    return answer(for: newGuest(), deployment: deployment, call.now)
  }

  mutating func continuation(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let access = try authorized(call).access
    let text = issue(access.subject, access.deployment, expires: access.expires, call.now, isContinuation: true)
    return ["accessToken": .string(text), "lastEventId": "0"]
  }

  mutating func revoke(_ call: BackendCall) throws(InAppRefusal) {
    let (text, access) = try authorized(call)
    guard access.subject.contains("/AUTH/") else { throw InAppRefusal(403, "Forbidden", note: "a guest's token") }
    accessTokens[text]?.isRevoked = true
  }

  /// The name of the user verification configuration.
  private static let verification = "sandbox"

  private func deployment(of body: JSON?) throws(InAppRefusal) -> String {
    guard let organization = body?["orgId"]?.stringValue,
      organization.prefix(15) == DemoAccounts.inAppOrganizationID, [15, 18].contains(organization.utf8.count)
    else { throw .notFound("Organization") }
    guard body?["capabilitiesVersion"] != nil, body?["platform"] != nil else {
      throw InAppRefusal(400, "capabilitiesVersion and platform are required")
    }
    return try deployment(body?["esDeveloperName"]?.stringValue)
  }

  /// Returns the `sub` of an identity JWT whose signature, key, issuer and expiry are right.
  private func verifiedSubject(_ text: String, now: Date) throws(InAppRefusal) -> String {
    guard let token = SignedToken(text) else { throw .identity("it is no JWT") }
    guard let algorithm = token.header["alg"]?.stringValue, ["RS256", "RS512"].contains(algorithm) else {
      throw .identity("alg is not RS256 or RS512")
    }
    guard let kid = token.header["kid"]?.stringValue, let key = keyset[kid] else { throw .identity("unknown kid") }
    guard RSASignature.isValid(token.signature, of: token.input, algorithm: algorithm, key: key) else {
      throw .identity("the signature is wrong")
    }
    guard token.claims["iss"]?.stringValue == DemoAccounts.inAppIssuer else { throw .identity("another iss") }
    guard let end = token.claims["exp"]?.doubleValue else { throw .identity("no exp") }
    guard end > now.timeIntervalSince1970 else { throw .expired }
    guard let subject = token.claims["sub"]?.stringValue, !subject.isEmpty else { throw .identity("no sub") }
    return subject
  }

  private mutating func newGuest() -> String {
    guests += 1
    return "v2/iamessage/UNAUTH/NA/uid:\(UUID().uuidString.lowercased())"
  }

  private mutating func answer(for subject: String, deployment: String, _ now: Date) -> JSON {
    let end = now.addingTimeInterval(settings.ttl)
    let text = settings.accessToken ?? issue(subject, deployment, expires: end, now)
    return [
      "accessToken": .string(text), "lastEventId": .string(String(settings.lastEventID)),
      "context": [
        "configuration": Self.configuration(of: deployment), "endUser": ["subject": .string(subject)],
      ],
    ]
  }

  /// Issues an access token: a JWT under a signature that no client checks.
  private mutating func issue(
    _ subject: String, _ deployment: String, expires: Date, _ now: Date, isContinuation: Bool = false
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
      subject: subject, deployment: deployment, expires: expires, isContinuation: isContinuation)
    return text
  }
}
