import Foundation
import Glibc
import JSONRPC
import Testing

/// The rows F1 to F7 of the design's table for Service Chat, through the socket, the daemon and real HTTP.
@Suite struct SalesforceRowTests {
  private let token = "/services/oauth2/token"
  private let client = "3MVG9sandbox.demo"
  private let rotating = "3MVG9sandbox.rotating"

  // MARK: The desk

  private func open(
    _ settings: JSONObject = [:], provider: String? = nil
  ) throws -> (desk: Desk, line: Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try create(desk, line, settings, provider: provider)
    return (desk, line)
  }

  private func create(
    _ desk: Desk, _ line: Line, _ settings: JSONObject = [:], provider: String? = nil
  ) throws {
    let base: JSONObject = ["client_id": .string(client), "refresh": ["min_interval": 0]]
    try desk.create(
      "desk", kind: "salesforce.chat", on: line, settings: base.merged(with: settings),
      provider: try provider.map { try desk.provider($0) })
  }

  /// What a login in the browser would have given.
  private func grant(_ desk: Desk, _ user: String = "alice", _ more: JSONObject = [:]) throws -> JSON {
    let base: JSONObject = ["user": .string(user)]
    return try desk.vendor.request("POST", "/_grant", .object(base.merged(with: more)))
  }

  private func settings(_ grant: JSON) -> JSON {
    var settings = JSONObject()
    let names = [
      "instance_url": "instanceUrl", "access_token": "accessToken", "refresh_token": "refreshToken",
      "client_id": "clientId", "id": "identityUrl",
    ]
    for (theirs, ours) in names { settings[ours] = grant[theirs] }
    return .object(settings)
  }

  @discardableResult
  private func set(_ line: Line, _ settings: JSON, service: String = "chat") throws -> JSON {
    try line.call(
      "serviceChat.setAuthenticationSettings",
      ["instance": "desk", "service": .string(service), "settings": settings])
  }

  private func refusal(_ line: Line, _ settings: JSON, service: String = "chat") throws -> RPCError {
    try line.failure(
      "serviceChat.setAuthenticationSettings",
      ["instance": "desk", "service": .string(service), "settings": settings])
  }

  private func open(_ line: Line, _ service: String = "chat") throws -> JSON {
    try line.call("session.open", ["instance": "desk", "service": .string(service)])
  }

  private func token(_ line: Line, _ service: String = "chat") throws -> JSON {
    try line.call("token.get", ["instance": "desk", "service": .string(service)])
  }

  private func state(_ line: Line, _ service: String = "chat") throws -> String? {
    try line.call("instance.get", ["instance": "desk"])["services"]?[service]?["state"]?.stringValue
  }

  private func events(_ line: Line, _ type: String) throws -> [JSON] {
    (try line.call("events.list", ["limit": 500])["events"]?.arrayValue ?? []).filter { $0["type"] == .string(type) }
  }

  private func user(_ grant: JSON) -> String? {
    grant["id"]?.stringValue?.split(separator: "/").last.map(String.init)
  }

  private func vendorState(_ desk: Desk) throws -> JSON { try desk.vendor.request("GET", "/_state")["sf"] ?? .null }

  // MARK: F1, F2

  @Test func F1_settingsSignAServiceInWithoutARequestAndForARestart() throws {
    let (desk, line) = try open()
    let given = try grant(desk)
    #expect(try set(line, settings(given)) == [:])
    #expect(try desk.vendor.log().isEmpty)
    #expect(try state(line) == "authenticated")
    #expect(try token(line)["token"] == given["access_token"])
    let user = try line.call("instance.currentUser", ["instance": "desk", "service": "chat"])
    #expect(user["id"]?.stringValue == self.user(given))
    #expect(user["authenticationType"] == "oauth2")
    #expect(user["authenticated"] == true)
    let shown = try line.call(
      "serviceChat.getAuthenticationSettings", ["instance": "desk", "service": "chat"])["settings"]
    #expect(
      shown == ["instanceUrl": given["instance_url"] ?? .null, "clientId": .string(client), "hasRefreshToken": true])
    try desk.crash()
    let next = try desk.connect()
    let session = try open(next)
    #expect(session["visible"] == true)
    #expect(session["service"] == "chat")
    #expect(session["token"]?["token"] == given["access_token"])
    #expect(
      session["token"]?["http"]?["headers"]?["Authorization"]?.stringValue
        == "Bearer \(given["access_token"]?.stringValue ?? "")")
    #expect(session["endpoint"]?["instanceUrl"] == given["instance_url"])
  }
}
