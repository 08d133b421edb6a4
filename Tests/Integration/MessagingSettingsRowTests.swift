import Foundation
import JSONRPC
import Testing

/// Messaging without a base URL: the vendor's address comes from the vendor's own settings.
@Suite struct MessagingSettingsRowTests {
  private func create(_ desk: Desk, _ line: Line, _ settings: JSONObject) throws {
    try desk.create("desk", kind: "zendesk.messaging", on: line, settings: settings)
  }

  private static func sources(_ vendor: Vendor) throws -> [JSONObject] {
    [
      // The channel key leads to this machine, as it may where the settings name that place.
      ["channel_key": try vendor.messagingState()["channelKey"] ?? .null, "base_url": .string(try vendor.messaging)],
      ["settings_url": .string(try vendor.messaging + "/settings/5f0000000000000000000002.json")],
    ]
  }

  @Test("The base URL and the app id are read from the vendor's settings", arguments: ["channel_key", "settings_url"])
  func M1_theAppIsFoundThroughTheVendorsSettings(source: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let settings = try Self.sources(desk.vendor).first { $0[source] != nil } ?? [:]
    try create(desk, line, settings)
    #expect(try desk.vendor.log().isEmpty)
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["endpoint"]?["baseUrl"] == .string(try desk.vendor.messaging))
    #expect(session["endpoint"]?["appId"] == .string(Desk.app))
    #expect(session["endpoint"]?["realtimeUrl"] == .string(try desk.vendor.base("zm", socket: true) + "/faye"))
    let asked = try desk.vendor.log().first
    #expect(asked?["method"] == "GET")
    func header(_ name: String) -> String? {
      asked?["headers"]?.objectValue?.members.first { $0.key.lowercased() == name }?.value.stringValue
    }
    #expect(header("x-zendesk-client") == "linux/sdkd")
    #expect(header("x-zendesk-client-version")?.isEmpty == false)
    #expect(header("x-zendesk-api-version") == "2021-01-01")
    #expect(header("accept-language") != nil)
    #expect(header("authorization") == nil)
    // Clients belong to the integration that the settings name.
    #expect(try desk.vendor.client()["integrationId"] == "5f0000000000000000000002")
    try desk.waitForRealtime(on: line)
    // The settings are read once, and kept through a login, a restart and a logout.
    try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.user(on: next)["externalId"] == "alice")
    try desk.waitForRealtime(on: next)
    try next.call("messaging.logoutUser", ["instance": "desk"])
    try desk.logIn(as: "bob", on: next)
    #expect(try desk.vendor.count("GET", ".json") == 1)
  }

  @Test("A login fails with notFound if the vendor does not know the account")
  func M1_anAccountThatTheVendorDoesNotKnowIsSaid() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try create(desk, line, ["settings_url": .string(try desk.vendor.messaging + "/settings/unknown.json")])
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(error.code == -32021)
    #expect(error.reason == "notFound")
    #expect(error.message.contains("account"))
    #expect(try desk.vendor.log().count == 1)
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "noUser")
  }

  private static let badSettings: [(script: JSON, reason: String)] = [
    (["status": 500], "serverError"), (["status": 429], "rateLimited"), (["hang": true], "timeout"),
    (["body": "<html>", "contentType": "text/html"], "badResponse"), (["body": [:]], "badResponse"),
    (["body": ""], "badResponse"), (["status": 401], "badResponse"),
    (["body": ["sunco_config": ["app": ["id": "a"], "baseURL": ["ios": "http://example.com"]]]], "badResponse"),
    (["body": ["sunco_config": ["app": ["id": "a"], "baseURL": ["ios": "file:///etc/passwd"]]]], "badResponse"),
    (["body": ["sunco_config": ["app": ["id": "a"], "baseURL": ["ios": "https://169.254.169.254"]]]], "badResponse"),
    (["body": ["sunco_config": ["app": ["id": 7], "baseURL": ["ios": "https://example.com"]]]], "badResponse"),
  ]

  @Test(
    "A login fails without a further request if the vendor's settings can't be read or used", arguments: badSettings)
  func M1_settingsOfNoUseAreSaidAndNothingElseIsAsked(script: JSON, reason: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try create(desk, line, try Self.sources(desk.vendor)[1].merged(with: ["timeout": "1s"]))
    let route: JSONObject = ["route": "GET /zm/settings/*", "times": 1]
    try desk.vendor.script(.object(route.merged(with: script.objectValue ?? [:])))
    let jwt: JSON = .string(try Vendor.mint("alice"))
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": jwt])
    #expect(error.reason == reason)
    #expect(try desk.vendor.log().count == 1)
    #expect(try desk.state(on: line) == "noUser")
    // The next call reads the settings again.
    try desk.vendor.clearScripts()
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": jwt])
  }

  @Test(
    "A malformed channel key is refused when the instance is created",
    arguments: ["", "%%%", "bm8ganNvbg==", "e30=", "eyJzZXR0aW5nc1VybCI6ImZ0cDovL2V4YW1wbGUuY29tIn0="])
  func M1_aChannelKeyThatCannotBeRightIsRefusedAtOnce(key: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let error = try line.failure(
      "instance.create",
      ["instance": "desk", "kind": "zendesk.messaging", "settings": ["channel_key": .string(key)]])
    #expect(error.data["member"] == "settings.channel_key")
    #expect(try line.failure("instance.get", ["instance": "desk"]).reason == "instanceNotFound")
  }
}
