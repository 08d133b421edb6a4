import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The sandbox's version 1 of the in-app messaging API, its stream of events, and its keysets.
struct InAppMobileTests {
  private static let path = "/sm/iamessage/v1"
  private static let device = "5a0f0000-0000-4000-8000-000000000000"

  let sandbox = TestSandbox()

  private func post(_ path: String, _ body: JSON, _ token: String? = nil) async throws -> SandboxResponse {
    try await sandbox.send(
      "POST", "\(Self.path)/\(path)", body, authorization: token.map { "Bearer \($0)" })
  }

  private func body(_ deployment: String, _ more: [String: JSON] = [:]) -> JSON {
    let all: [String: JSON] = [
      "orgId": .string(DemoAccounts.inAppOrganizationID), "developerName": .string(deployment),
      "capabilitiesVersion": "260", "deviceId": .string(Self.device),
    ]
    return .object(all.merging(more) { $1 })
  }

  private func exchange(_ change: (inout DemoIdentityToken) -> Void = { _ in }) async throws -> SandboxResponse {
    var token = DemoIdentityToken(subject: "alice", issuedAt: sandbox.clock.now)
    change(&token)
    let more: [String: JSON] = ["authorizationType": "JWT", "customerIdentityToken": .string(token.text)]
    return try await post("authorization/authenticated/accessToken", body(DemoAccounts.inAppMobileDeployment, more))
  }

  private func access() async throws -> String {
    try #require(try await exchange().tree?["accessToken"]?.stringValue)
  }

  @Test func `Each API serves the deployments of its type only`() async throws {
    #expect(try await exchange().status == 200)
    #expect(try await exchange().tree?["context"] == nil)
    let guests = "authorization/unauthenticated/persistedToken"
    #expect(try await post(guests, body(DemoAccounts.inAppGuestDeployment)).status == 404)
    #expect(try await post(guests, body(DemoAccounts.inAppMobileDeployment)).status == 403)
    var public2 = body(DemoAccounts.inAppMobileGuestDeployment).members ?? [:]
    public2["esDeveloperName"] = public2["developerName"]
    public2["platform"] = "Web"
    let answer = try await sandbox.send(
      "POST", "/sm/iamessage/api/v2/authorization/unauthenticated/access-token", .object(public2))
    #expect(answer.status == 404)
  }

  @Test func `A guest's refresh token is valid once, on its device`() async throws {
    let first = try await post(
      "authorization/unauthenticated/persistedToken", body(DemoAccounts.inAppMobileGuestDeployment)
    ).tree
    func renew(_ answer: JSON?, device: String = Self.device) async throws -> SandboxResponse {
      try await post(
        "authorization/renewToken",
        [
          "accessToken": answer?["accessToken"] ?? .null, "refreshToken": answer?["refreshToken"] ?? .null,
          "deviceId": .string(device), "capabilitiesVersion": "260",
        ])
    }
    sandbox.clock.advance(by: 3_601)
    #expect(try await renew(first, device: "another").status == 400)
    let second = try await renew(first)
    #expect(second.status == 200)
    #expect(try await renew(first).status == 401)
    let text = try #require(second.tree?["accessToken"]?.stringValue)
    #expect(SignedToken(text)?.claims["sub"]?.stringValue?.contains("/UNAUTH/") == true)
    #expect(second.tree?["refreshToken"] != first?["refreshToken"])
    #expect(try await renew(second.tree).status == 200)
  }

  @Test func `A device is registered, replaced, removed, and removed with its token`() async throws {
    let token = try await access()
    let route = "device/registerDeviceCapabilities"
    func devices() async throws -> [String?] {
      try await sandbox.state("sm")["devices"]?.elements.map { $0["deviceToken"]?.stringValue } ?? []
    }
    #expect(try await post(route, ["deviceToken": "a", "pushServiceProvider": "FCM"]).status == 401)
    #expect(try await post(route, ["deviceToken": "a", "pushServiceProvider": "OTHER"], token).status == 400)
    for address in ["a", "b"] {
      let body: JSON = ["deviceToken": .string(address), "pushServiceProvider": "FCM"]
      #expect(try await post(route, body, token).status == 204)
      #expect(try await devices() == [address])
    }
    #expect(try await post(route, [:], token).status == 204)
    #expect(try await devices() == [])
    #expect(try await post(route, ["deviceToken": "c", "pushServiceProvider": "APNS"], token).status == 204)
    let more = try await sandbox.send(
      "GET", "\(Self.path)/authorization/continuityAccessToken", authorization: "Bearer \(token)")
    #expect(more.status == 200)
    #expect(try await post("authorization/revokeToken", ["deregisterDevice": true], token).status == 204)
    #expect(try await devices() == [])
    #expect(try await post("authorization/revokeToken", ["deregisterDevice": true], token).status == 401)
  }

  @Test func `A stream resumes after the last event, has pings, and ends with its token`() async throws {
    let token = try await access()
    let path = "/sm/eventrouter/v1/sse"
    let headers = ["X-Org-Id": DemoAccounts.inAppOrganizationID, "Last-Event-Id": "1"]
    for missing in headers.keys {
      let part = headers.filter { $0.key != missing }
      #expect(
        try await sandbox.send("GET", path, authorization: "Bearer \(token)", headers: part).status == 400)
    }
    #expect(try await sandbox.send("GET", path, headers: headers).status == 401)
    try await sandbox.control("/_options", ["sdk": "sm", "ping": 0.01])
    for number in 1...2 {
      try await sandbox.control(
        "/_event", ["externalId": "alice", "event": "MESSAGE", "data": ["number": .number(Double(number))]])
    }
    guard
      case .stream(let response, var stream) = await sandbox.reply(
        "GET", path, authorization: "Bearer \(token)", headers: headers)
    else {
      Issue.record("no stream")
      return
    }
    #expect(response.headers["Content-Type"] == ["text/event-stream"])
    func next() async -> String? { await stream.next().map { String(decoding: $0, as: UTF8.self) } }
    #expect(await next() == "id: 2\nevent: MESSAGE\ndata: {\"number\":2}\n\n")
    #expect(await next() == "event: ping\ndata: {}\n\n")
    try await sandbox.control("/_revoke", ["sdk": "sm", "externalId": "alice"])
    #expect(await next() == nil)
  }

  @Test func `Keys are those of an active keyset, uploaded with a certificate or fetched from its URL`() async throws {
    let issuer = "https://second.example.test"
    let (n, e) = try #require(Self.modulus(try await sandbox.send("GET", "/_keys").tree))
    var key: [String: JSON] = ["kty": "RSA", "kid": "second", "alg": "RS256", "n": .string(n), "e": .string(e)]
    func status() async throws -> Int {
      try await exchange {
        $0.issuer = issuer
        $0.kid = "second"
      }.status
    }
    func set(_ members: [String: JSON]) async throws {
      try await sandbox.control("/_keyset", .object(members.merging(["issuer": .string(issuer)]) { $1 }))
    }
    #expect(try await status() == 401)
    try await set(["jwk": .object(key)])
    #expect(try await status() == 401)
    key["x5c"] = ["MIIC"]
    try await set(["jwk": .object(key)])
    #expect(try await status() == 200)
    try await set(["active": false])
    #expect(try await status() == 401)
    let other = "https://third.example.test"
    func third(_ kid: String) async throws -> Int {
      try await exchange {
        $0.issuer = other
        $0.kid = kid
      }.status
    }
    func publish(_ kid: String, _ url: String) async throws {
      key["kid"] = .string(kid)
      try await sandbox.control(
        "/_keyset", ["issuer": .string(other), "jwks": ["keys": [.object(key)]], "url": .string(url)])
    }
    try await publish("one", "up")
    #expect(try await third("one") == 200)
    try await publish("two", "stale")
    #expect(try await third("two") == 401)
    #expect(try await third("one") == 200)
    try await publish("two", "up")
    #expect(try await third("two") == 200)
    try await publish("two", "down")
    #expect(try await third("two") == 401)
  }

  /// Returns the modulus and the exponent of the demo key in base64url, from its PEM: a SubjectPublicKeyInfo of an RSA
  /// key of 2048 bits.
  private static func modulus(_ keys: JSON?) -> (String, String)? {
    guard let pem = keys?["sm"]?["keyset"]?.elements.first?["publicKey"]?.stringValue else { return nil }
    let text = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    guard let der = Data(base64Encoded: text), der.count == 294 else { return nil }
    return (HS256.base64URL(der[33..<289]), HS256.base64URL(der[291..<294]))
  }
}
