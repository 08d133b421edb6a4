import Foundation
import JSONRPC
import Testing

/// The row F5 of the design's table for Service Chat: answers of the token service that can't be used.
@Suite struct SalesforceRotationRowTests {
  private func rotating(_ provider: String? = nil) throws -> (ServiceDesk, JSON) {
    let desk = try ServiceDesk(client: ServiceDesk.rotating, provider: provider)
    return (desk, try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.rotating)]))
  }

  private func answer(_ desk: ServiceDesk, with members: JSON) throws {
    try desk.vendor.request("POST", "/_options", ["sdk": "sf", "answer": members])
  }

  private static let unusable: [(members: JSON, reason: String)] = [
    (["instance_url": "ftp://x"], "badResponse"), (["instance_url": "https://x.salesforce.com/?a=b"], "badResponse"),
    (["access_token": "a b"], "badResponse"),
    (["access_token": ""], "badResponse"), (["access_token": nil], "badResponse"),
    (["id": "https://login.salesforce.com/id/00D000000000009EAA/005000000000009AAB"], "providerTokenForOtherUser"),
  ]

  @Test("A rotated refresh token is kept if the rest of the response can't be used", arguments: unusable)
  func F5_rotatedTokenIsKept(members: JSON, reason: String) throws {
    let (desk, given) = try rotating()
    let shown = try desk.shownSettings()
    try answer(desk, with: members)
    #expect(try desk.reason("token.refresh") == reason)
    // No part of the response is published.
    #expect(try desk.token()["token"] == given["access_token"])
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.shownSettings() == shown)
    try desk.crash()
    #expect(try desk.state() == "authenticated")
    #expect(try desk.shownSettings() == shown)
    #expect(try desk.grants().first?["spentUses"] == 0)
    try answer(desk, with: nil)
    #expect(try desk.refresh()["token"] != given["access_token"])
    let grant = try desk.grants().first
    #expect(grant?["refreshes"] == 2)
    #expect(grant?["spentUses"] == 0)
    #expect(try desk.events("authenticationFailed", "userLoggedOut", "settingsUpdated").count == 1)
    #expect(try desk.events("refreshFailed").map { $0["data"]?["reason"]?.stringValue } == [reason])
  }

  @Test("After a refused access token and an unusable response to the refresh, the next refresh works")
  func F5_refusedTokenAndUnusableAnswer() throws {
    let (desk, given) = try rotating()
    try desk.revoke("alice", "access")
    try answer(desk, with: ["instance_url": "ftp://x"])
    #expect(try desk.open()["reason"] == "reauthNeeded")
    try answer(desk, with: nil)
    let session = try desk.open()
    #expect(session["visible"] == true)
    #expect(session["user"]?["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.grants().first?["spentUses"] == 0)
  }

  @Test("The grant of settings from the provider survives an unusable response")
  func F5_suppliedSettingsAndUnusableAnswer() throws {
    let (desk, _) = try rotating(
      "case $SDKD_QUESTION in shouldAuthenticate) cat answer ;; *) echo '{\"proceed\": true}' ;; esac")
    try desk.revoke()
    let next = try desk.grant("alice", ["client_id": .string(ServiceDesk.rotating)])
    try desk.writeAnswer(next)
    try desk.revoke("alice", "access")
    try answer(desk, with: ["access_token": "a b"])
    #expect(try desk.open()["reason"] == "reauthNeeded")
    try answer(desk, with: nil)
    try desk.crash()
    #expect(try desk.open()["visible"] == true)
    #expect(try desk.grants().last?["spentUses"] == 0)
  }

  @Test("Two empty refusals in a row make a refresh token invalid, even across a restart")
  func F5_emptyRefusalTwice() throws {
    let (desk, given) = try rotating()
    let empty: JSONObject = ["status": 400, "body": "", "times": "forever"]
    try desk.scriptTokens(empty)
    #expect(try desk.reason("token.refresh") == "badResponse")
    #expect(try desk.state() == "authenticated")
    #expect(try desk.token()["token"] == given["access_token"])
    try desk.vendor.clearScripts()
    try desk.crash()
    // A refresh that the vendor accepts resets the count of empty refusals.
    let fresh = try desk.refresh()
    try desk.scriptTokens(empty)
    #expect(try desk.reason("token.refresh") == "badResponse")
    try desk.crash()
    #expect(try desk.token()["token"] == fresh["token"])
    let error = try desk.line.failure("token.refresh", desk.params())
    #expect(error.reason == "invalidGrant")
    #expect(error.code == -32021)
    #expect(error.data["httpStatus"] == 400)
    #expect(try desk.state() == "anonymous")
    #expect(try desk.events("authenticationFailed").map { $0["data"]?["reason"] } == ["invalidGrant"])
  }

  @Test("Empty refusals after a lost response are reported as an interrupted rotation, even across a restart")
  func F5_emptyRefusalsAfterALostAnswer() throws {
    let (desk, given) = try rotating()
    try desk.scriptTokens(["passThrough": true, "closeMidBody": true])
    #expect(try desk.reason("token.refresh") == "network")
    try desk.scriptTokens(["status": 400, "body": "", "times": "forever"])
    #expect(try desk.reason("token.refresh") == "badResponse")
    try desk.crash()
    try eventually("the loss is seen") { try desk.state() == "reauthNeeded" }
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(given))
    #expect(try desk.events("authenticationFailed").map { $0["data"]?["reason"] } == ["rotationInterrupted"])
    #expect(try desk.events("userLoggedOut").isEmpty)
  }
}
