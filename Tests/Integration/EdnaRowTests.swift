import Foundation
import JSONRPC
import Testing

/// The rows E1 to E13 of the design's table for Chat Center, through the socket, the daemon, real HTTP and WebSockets.
@Suite struct EdnaRowTests {
  @Test func E1_authorizeAnswersWhenAcceptedAndItsOutcomeIsAnEventWithItsOperation() throws {
    let desk = try EdnaDesk()
    let operation = try desk.begin("u-1", user: ["name": "Alice", "data": ["plan": "gold"]])
    let event = try desk.outcome(of: operation)
    #expect(event["type"] == "userLoggedIn")
    #expect(event["data"]?["user"]?["name"] == "Alice")
    #expect(event["data"]?["user"]?["authenticationType"] == "custom")
    // The vendor has acknowledged the last of the three steps by then.
    #expect(try desk.arrivals() == ["chat/config", "ed/ws", "registerDevice", "INIT_CHAT", "CLIENT_INFO"])
    #expect(try desk.vendorUser("u-1")?["info"]?["name"] == "Alice")
    #expect(try desk.vendorUser("u-1")?["data"] == ["plan": "gold"])
    #expect(try desk.vendorUser("u-1")?["online"] == true)
    #expect(try desk.state == "authenticated")
  }

  @Test func E12_theSessionIsUpAgainAfterARestartWithoutACall() throws {
    let desk = try EdnaDesk()
    try desk.token("t-alice", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-alice", "scheme": "jwt"], user: ["name": "Alice"])
    let address = try desk.call("getChat")["endpoint"]?["deviceAddress"]
    try desk.crash()
    try desk.waitUntilOnline("u-1")
    #expect(try desk.state == "authenticated")
    #expect(try desk.frames("registerDevice").last?["deviceAddress"] == address)
    #expect(try desk.frames("CLIENT_INFO").count == 2)
    #expect(try desk.call("token.get")["token"] == "t-alice")
    #expect(try desk.requests("/config").count == 1)
  }

  @Test func E6_logoutTellsTheVendorOverTheSocketAndClearsEverything() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    let operation = try #require(try desk.call("logout")["operation"]?.stringValue)
    let event = try desk.outcome(of: operation)
    #expect(event["type"] == "userLoggedOut")
    #expect(event["data"]?["cause"] == "explicit")
    #expect(try desk.offline == ["u-1"])
    #expect(try desk.arrivals().last == "CLIENT_OFFLINE")
    #expect(try desk.state == "loggedOut")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    try desk.crash()
    #expect(try desk.state == "loggedOut")
    #expect(try desk.failure("getChat").reason == "userNotAuthorized")
    try desk.authorize("u-1")
    #expect(try desk.call("getChat")["prefill"] == nil)
  }
}
