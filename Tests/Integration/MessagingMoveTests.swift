import Foundation
import JSONRPC
import Testing

/// A Messaging account that has moved: the base URL, the app and the rest were read from the vendor's settings, and lead
/// nowhere any more. Each request reads the settings again, at most once a minute.
@Suite struct MessagingMoveTests {
  /// A request of the daemon to the vendor.
  enum Request: String, CaseIterable, Sendable {
    case login, renewal, visitor, probe, logout, push
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let request: Request
    let failure: MovedBackend.Failure

    static let all = Request.allCases.flatMap { request in
      MovedBackend.Failure.allCases.map { Case(request: request, failure: $0) }
    }
    var testDescription: String { "\(request.rawValue), \(failure)" }
  }

  /// A place as the vendor's settings state it.
  private func settings(_ base: String, integration: String? = nil, isMulti: Bool = false) -> JSON {
    var config: JSONObject = [
      "app": ["id": .string(Desk.app), "settings": ["multiConvoEnabled": .bool(isMulti)]],
      "baseURL": ["ios": .string(base)],
    ]
    config["integration"] = integration.map { ["id": .string($0)] }
    return ["sunco_config": .object(config)]
  }

  /// Creates the instance `desk`, whose account is at `place` until the settings are read again.
  ///
  /// - Parameter root: the base URL below which the settings are.
  private func create(
    on desk: Desk, _ line: Line, at place: JSON, settings root: String? = nil, times: JSON = 1,
    _ more: JSONObject = [:], hasProvider: Bool = true
  ) throws {
    let url = try (root ?? desk.vendor.messaging) + "/settings/5f0000000000000000000002.json"
    let base: JSONObject = [
      "settings_url": .string(url), "realtime": "off", "timeout": "1s",
      "refresh": ["mode": "lazy", "min_interval": 0],
    ]
    try desk.create(
      "desk", kind: "zendesk.messaging", on: line, settings: base.merged(with: more),
      provider: hasProvider ? try desk.mintingProvider() : nil)
    try desk.vendor.script(["route": "GET /zm/settings/*", "body": place, "times": times])
  }

  private func reads(_ desk: Desk) throws -> Int { try desk.vendor.count("GET", ".json") }

  @Test("Each request finds an account that has moved", arguments: Case.all)
  func M1_eachRequestFindsAnAccountThatHasMoved(which: Case) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let backend = try MovedBackend(in: desk)
    // With a provider, a reported token is renewed and not probed.
    try create(
      on: desk, line, at: settings(backend.former), settings: backend.present, hasProvider: which.request != .probe)
    try desk.logIn(on: line)
    #expect(try desk.session(on: line)["endpoint"]?["baseUrl"] == .string(backend.former))
    try backend.fail(which.failure)
    let before = try desk.vendor.log().count
    var last = ""
    switch which.request {
    case .login:
      try desk.logIn(as: "bob", on: line)
      last = "POST login 200"
    case .renewal:
      try line.call("token.refresh", ["instance": "desk"])
      last = "POST login 200"
    case .visitor:
      try line.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])
      #expect(try desk.session(on: line)["visible"] == true)
      last = "POST appusers 200"
    case .probe:
      let token = try line.call("token.get", ["instance": "desk"])
      try line.call(
        "token.reject", ["instance": "desk", "tokenId": token["tokenId"] ?? .null, "status": 401])
      #expect(try line.call("token.get", ["instance": "desk"])["tokenId"] == token["tokenId"])
      let user = try desk.user(on: line)["id"]?.stringValue ?? ""
      last = "GET \(user) 200"
    case .logout:
      #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == true)
      last = "POST logout 200"
    case .push:
      try line.call(
        "push.register", ["instance": "desk", "endpoint": ["address": "device-one-00000000", "type": "fcm"]])
      #expect(try desk.vendor.client()["pushNotificationToken"] == "device-one-00000000")
    }
    #expect(try reads(desk) == 2)
    let calls = try desk.vendor.calls()[before...]
    #expect(last.isEmpty || calls.contains(last), "\(calls)")
    if which.request != .logout {
      #expect(try desk.session(on: line)["endpoint"]?["baseUrl"] == .string(backend.present))
    }
    // The next requests go there at once.
    try desk.logIn(as: "carol", on: line)
    #expect(try reads(desk) == 2)
  }

  @Test("The settings of an account that does not answer are read again at most once a minute")
  func R13_theSettingsAreReadAgainAtMostOnceAMinute() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    let backend = try MovedBackend(in: desk)
    try create(on: desk, line, at: settings(backend.former), settings: backend.present, times: "forever")
    try desk.logIn(on: line)
    try backend.fail(.serverError)
    for _ in 0..<4 { #expect(throws: RPCError.self) { try desk.logIn(as: "bob", on: line) } }
    #expect(try reads(desk) == 2)
    try clock.move(to: 61)
    for _ in 0..<2 { #expect(throws: RPCError.self) { try desk.logIn(as: "bob", on: line) } }
    #expect(try reads(desk) == 3)
  }

  @Test("Another integration of the account is used, too")
  func M1_anotherIntegrationOfTheAccountIsUsed() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try create(on: desk, line, at: settings(try desk.vendor.messaging, integration: "former"))
    try desk.logIn(on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "status": 404])
    try desk.logIn(as: "bob", on: line)
    let integrations = try desk.vendor.log().filter { $0["path"]?.stringValue?.hasSuffix("/login") == true }
      .map { try JSONParser.parse($0["body"]?.stringValue ?? "")["client"]?["integrationId"] }
    #expect(integrations == ["former", "former", "5f0000000000000000000002"])
  }

  @Test("The realtime socket of an account that has moved is found")
  func M8_theRealtimeSocketOfAMovedAccountIsFound() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let backend = try MovedBackend(in: desk)
    try create(on: desk, line, at: settings(backend.former), settings: backend.present, ["realtime": "auto"])
    try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    #expect(try reads(desk) == 2)
    try desk.crash()
    let next = try desk.connect()
    try desk.vendor.request("POST", "/_close", [:])
    try desk.waitForRealtime(on: next)
  }

  @Test("A user whom the vendor names no id for, at another place, keeps none")
  func M1_anotherPlaceKeepsNoFormerUserId() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let backend = try MovedBackend(in: desk)
    try create(on: desk, line, at: settings(backend.former), settings: backend.present)
    try desk.logIn(on: line)
    #expect(try desk.user(on: line)["id"] != nil)
    try backend.fail(.notFound)
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "body": [:]])
    try line.call("token.refresh", ["instance": "desk"])
    #expect(try desk.user(on: line)["id"] == nil)
    #expect(try desk.user(on: line)["externalId"] == "alice")
  }

  @Test("A push registration follows the account to another place")
  func M1_aPushRegistrationFollowsTheAccount() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let former = Vendor(namespace: UUID().uuidString.lowercased())
    try create(on: desk, line, at: settings(try former.messaging))
    try desk.logIn(on: line)
    try line.call(
      "push.register", ["instance": "desk", "endpoint": ["address": "device-one-00000000", "type": "fcm"]])
    try former.script(["route": "/v2/**", "status": 404, "times": "forever"])
    try line.call("token.refresh", ["instance": "desk"])
    try eventually("the registration is made again") {
      (try? desk.vendor.client())?["pushNotificationToken"] == "device-one-00000000"
    }
    #expect(try line.call("push.list", ["instance": "desk"])["pushes"]?.arrayValue?.count == 1)
  }
}

extension Desk {
  fileprivate func session(on line: Line) throws -> JSON { try line.call("session.open", ["instance": "desk"]) }
}
