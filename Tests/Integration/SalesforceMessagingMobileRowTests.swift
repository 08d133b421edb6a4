import Foundation
import JSONRPC
import Testing

/// The rows G13 to G17 and G24 for v1 of the API of Messaging for In-App and Web: guests that outlive their access
/// token, and push.
@Suite struct SalesforceMessagingMobileRowTests {
  private static func register(_ address: String, type: String = "fcm") -> JSONObject {
    ["endpoint": ["address": .string(address), "type": .string(type)]]
  }

  private func devices(_ desk: InAppDesk) throws -> [String?] {
    try desk.listed("devices").map { $0["deviceToken"]?.stringValue }
  }

  /// The part of a guest's name that only they have.
  private func name(of user: JSON?) -> String {
    String((user?["id"]?.stringValue ?? "").split(separator: ":").last ?? "")
  }

  // MARK: G3, G15, G18 with v1

  @Test("v1 exchanges a JWT, and tells about the client in the query")
  func G3_v1ExchangesAJWT() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile.merged(with: ["app_name": "Front.Desk"]))
    let user = try desk.signIn()
    #expect(user["id"] == "v2/iamessage/AUTH/sandbox/uid:alice")
    #expect(try desk.open()["endpoint"]?["apiVersion"] == "v1")
    let request = try desk.desk.vendor.log().last { $0["path"]?.stringValue?.hasSuffix("/accessToken") == true }
    let query = request?["query"]?.stringValue ?? ""
    #expect(query.hasPrefix("AppName=Front.Desk&DeviceType=Linux&Os=Linux&OsVersion="))
    let body = try JSONParser.parse(request?["body"]?.stringValue ?? "")
    #expect(body["developerName"] == "Sandbox_Mobile")
    #expect(body["capabilitiesVersion"] == "260")
    #expect(UUID(uuidString: body["deviceId"]?.stringValue ?? "") != nil)
    let other = try desk.call("messagingInApp.getContinuationToken")
    #expect(other["token"] != (try desk.token()["token"]))
    #expect(try desk.call("messagingInApp.revokeToken")["backendInformed"] == true)
    #expect(try desk.issued().first?["revoked"] == true)
  }

  // MARK: G13

  @Test("A guest of v1 is renewed when the access token has expired, and stays the same guest")
  func G13_aGuestOfV1IsRenewed() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    try desk.options(["ttl": JSON(Vendor.shortLife)])
    let session = try desk.open()
    let first = session["token"]?["token"]
    #expect(try desk.state() == "anonymous")
    try desk.options(["ttl": .null])
    try eventually("the token is another one") { try desk.token()["token"] != first }
    #expect(try desk.count("renewToken") == 1)
    #expect(try desk.state() == "anonymous")
    let user = try desk.call("instance.currentUser")
    #expect(user["id"] == session["user"]?["id"])
    #expect(user["authenticated"] == false)
    #expect(
      try desk.types("anonymousUserCreated", "tokenRefreshed", "userLoggedIn") == [
        "anonymousUserCreated", "tokenRefreshed",
      ])
    // The next renewal is made with the new refresh token, also after a crash.
    let next = try desk.crashed()
    #expect(try next.call("token.refresh")["token"] != first)
    #expect(try next.listed("refreshTokens").map { $0["used"] } == [true, true, false])
    let told = JSONWriter.text(of: .array(try next.events())) + next.desk.logs
    for secret in try next.listed("refreshTokens") {
      #expect(!told.contains(secret["refreshToken"]?.stringValue ?? "?"))
    }
  }

  @Test("A guest's token that an app reports is renewed, and so is that of a continuation")
  func G13_aReportedGuestIsRenewed() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    let session = try desk.open()
    try desk.revoke(name(of: session["user"]))
    try desk.reject()
    #expect(try desk.token()["token"] != session["token"]?["token"])
    #expect(try desk.count("renewToken") == 1)
    try desk.revoke(name(of: session["user"]))
    #expect(try desk.call("messagingInApp.getContinuationToken")["tokenType"] == "accessToken")
    #expect(try desk.count("renewToken") == 2)
    #expect(try desk.call("instance.currentUser")["id"] == session["user"]?["id"])
  }

  @Test("A renewal whose answer is lost keeps the guest, and never makes another one")
  func G13_aLostAnswerKeepsTheGuest() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    let session = try desk.open()
    try desk.script(["passThrough": true, "closeMidBody": true], at: InAppDesk.renewalRoute)
    _ = try desk.failure("token.refresh")
    #expect(try desk.types("userLoggedOut", "identityWiped").isEmpty)
    #expect(try desk.state() == "anonymous")
    // The refresh token is spent: the vendor refuses it twice, and then the guest is held.
    try eventually("the guest has ended") {
      _ = try? desk.failure("token.refresh")
      return try desk.state() == "reauthNeeded"
    }
    #expect(try desk.types("anonymousUserCreated", "userLoggedOut") == ["anonymousUserCreated"])
    #expect(try desk.call("instance.currentUser")["id"] == session["user"]?["id"])
    #expect(try desk.open()["visible"] == false)
  }

  @Test("A guest survives the end of the daemon between the vendor's answer and the commit")
  func G13_aKilledRenewalDoesNotMakeAnotherGuest() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    let session = try desk.open()
    try desk.script(["passThrough": true, "delayMs": 30_000], at: InAppDesk.renewalRoute)
    _ = desk.line.begin("token.refresh", ["instance": "desk"])
    try eventually("the renewal has begun") { try desk.count("renewToken") == 1 }
    let next = try desk.crashed()
    try next.desk.vendor.clearScripts()
    try eventually("the refresh token was spent") { try next.listed("refreshTokens").first?["used"] == true }
    #expect(try next.call("instance.currentUser")["id"] == session["user"]?["id"])
    #expect(try next.types("anonymousUserCreated", "userLoggedOut") == ["anonymousUserCreated"])
  }

  @Test("A guest of a backup is not renewed: the refresh token may have been spent since")
  func G13_aGuestOfABackupIsNotRenewed() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    _ = try desk.open()
    try desk.line.call("daemon.backup", ["name": "copy"])
    _ = try desk.call("token.refresh")
    desk.desk.stop()
    #expect(try desk.desk.sdkctl("restore", "copy", "--state", desk.desk.state.path).status == 0)
    let next = try desk.started()
    #expect(try next.state() == "reauthNeeded")
    #expect(try next.open()["visible"] == false)
    #expect(try next.count("renewToken") == 1)
    #expect(try next.listed("refreshTokens").count == 2)
    _ = try next.call("messagingInApp.clearStorage")
    #expect(try next.open()["visible"] == true)
  }

  // MARK: G14

  @Test("A guest of v1 whom the vendor refuses twice is held, or replaced", arguments: ["hold", "new"])
  func G14_aGuestOfV1IsHeldOrReplaced(_ end: String) throws {
    let more: JSONObject = end == "new" ? ["guest_end": "new"] : [:]
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest.merged(with: more))
    let first = try desk.open()["user"]
    try desk.script(["status": 401, "times": "forever"], at: InAppDesk.renewalRoute)
    _ = try desk.failure("token.refresh")
    #expect(try desk.types("userLoggedOut", "authenticationFailed").isEmpty)
    try eventually("the guest has ended") {
      _ = try? desk.failure("token.refresh")
      return try desk.state() == (end == "new" ? "loggedOut" : "reauthNeeded")
    }
    try desk.desk.vendor.clearScripts()
    guard end == "new" else {
      #expect(try desk.types("userLoggedOut", "authenticationFailed") == ["authenticationFailed"])
      #expect(try desk.open()["visible"] == false)
      #expect(try desk.types("anonymousUserCreated").count == 1)
      _ = try desk.call("messagingInApp.clearStorage")
      #expect(try desk.open()["user"]?["id"] != first?["id"])
      return
    }
    #expect(try desk.types("userLoggedOut", "identityWiped", "anonymousUserCreated").count == 3)
    #expect(try desk.open()["user"]?["id"] != first?["id"])
  }

  @Test("An outage ends no guest, whatever an app reports")
  func G14_anOutageEndsNoGuest() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    let first = try desk.open()["user"]
    try desk.revoke(name(of: first))
    try desk.script(["status": 503, "times": "forever"], at: InAppDesk.renewalRoute)
    try desk.reject()
    for _ in 0..<4 { _ = try? desk.failure("token.refresh") }
    #expect(try desk.types("userLoggedOut", "authenticationFailed", "identityWiped").isEmpty)
    try desk.desk.vendor.clearScripts()
    try eventually("the guest is renewed") {
      (try? desk.token()["token"]) != nil
    }
    #expect(try desk.call("instance.currentUser")["id"] == first?["id"])
  }

  // MARK: G15

  @Test("A logout ends the device's push at the vendor too, unless the call says otherwise", arguments: [true, false])
  func G15_aLogoutEndsPush(_ ends: Bool) throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile)
    try desk.signIn()
    _ = try desk.call("push.register", Self.register("address-1"))
    _ = try desk.call("messagingInApp.revokeToken", ends ? [:] : ["deregisterDevice": false])
    #expect(try devices(desk) == (ends ? [] : ["address-1"]))
    #expect(try desk.call("push.list")["pushes"] == [])
  }

  @Test("Another user's login ends the former one's push, with one revocation")
  func G15_aSwitchEndsPush() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile)
    try desk.signIn()
    _ = try desk.call("push.register", Self.register("address-1"))
    try desk.signIn(as: "bob")
    try eventually("the former token is revoked") { try desk.count("revokeToken") == 1 }
    try eventually("the device is removed") { try devices(desk) == [] }
    #expect(try desk.issued().map { $0["revoked"] } == [true, false])
    #expect(try desk.types("pushUnregistered") == ["pushUnregistered"])
  }

  // MARK: G17

  @Test("Two instances are two clients, each with its own device id and user")
  func G17_twoInstancesAreTwoClients() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile)
    try desk.create("other", settings: InAppDesk.mobile)
    try desk.signIn()
    try desk.line.call(
      "messagingInApp.setIdentityToken", ["instance": "other", "identityToken": .string(try InAppDesk.jwt("bob"))])
    let sessions = try ["desk", "other"].map { try desk.line.call("session.open", ["instance": .string($0)]) }
    #expect(sessions.map { $0["user"]?["externalId"] } == ["alice", "bob"])
    #expect(Set(sessions.map { $0["endpoint"]?["deviceId"]?.stringValue }).count == 2)
    _ = try desk.call("messagingInApp.revokeToken")
    #expect(try desk.line.call("token.get", ["instance": "other"])["token"] == sessions[1]["token"]?["token"])
    #expect(try desk.types("userLoggedIn", "userLoggedOut") == ["userLoggedIn", "userLoggedOut"])
  }

  // MARK: G24

  @Test("A device is registered once, replaced by another, and removed by either call")
  func G24_aDeviceIsRegisteredOnce() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile)
    #expect(try desk.failure("push.register", Self.register("address-1"))["reason"] == "notAuthenticated")
    try desk.signIn()
    let id = try desk.call("push.register", Self.register("address-1"))["id"]
    #expect(try desk.call("push.register", Self.register("address-1"))["id"] == id)
    #expect(try desk.count("registerDeviceCapabilities") == 1)
    #expect(try desk.listed("devices").first?["pushServiceProvider"] == "FCM")
    let next = try desk.call("push.register", Self.register("address-2", type: "apns"))["id"] ?? .null
    #expect(try devices(desk) == ["address-2"])
    #expect(try desk.listed("devices").first?["pushServiceProvider"] == "APNS")
    #expect(try desk.call("push.list")["pushes"]?.arrayValue?.map { $0["id"] } == [next])
    _ = try desk.call("push.unregister", ["id": next])
    #expect(try devices(desk) == [])
    #expect(try desk.call("messagingInApp.deregisterDevice")["removed"] == false)
    _ = try desk.call("push.register", Self.register("address-3"))
    #expect(try desk.call("messagingInApp.deregisterDevice")["removed"] == true)
    #expect(try devices(desk) == [])
    #expect(try desk.call("push.list")["pushes"] == [])
    #expect(!desk.desk.logs.contains("address-"))
  }

  @Test("The revocation of a former user does not leave the next one without push")
  func G24_theNextUserKeepsPush() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile)
    try desk.signIn()
    _ = try desk.call("push.register", Self.register("address-1"))
    let route = "POST /iamessage/v1/authorization/revokeToken"
    try desk.script(["passThrough": true, "delayMs": 700], at: route)
    try desk.signIn(as: "bob")
    _ = try desk.call("push.register", Self.register("address-1"))
    try eventually("the former user's token is revoked") { try desk.issued().first?["revoked"] == true }
    try eventually("the device is the next user's") {
      try desk.listed("devices").map { $0["subject"] } == ["v2/iamessage/AUTH/sandbox/uid:bob"]
    }
  }

  @Test("A refused registration is not listed, and one with an expired token renews it first")
  func G24_aRefusedRegistrationIsNotListed() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobile)
    try desk.signIn()
    let route = "POST /iamessage/v1/device/registerDeviceCapabilities"
    try desk.script(["status": 500], at: route)
    #expect(try desk.failure("push.register", Self.register("address-1"))["reason"] == "serverError")
    #expect(try desk.call("push.list")["pushes"] == [])
    try desk.revoke()
    _ = try desk.call("push.register", Self.register("address-1"))
    #expect(try devices(desk) == ["address-1"])
    #expect(try desk.issued().count == 2)
    let error = try desk.failure("push.register", Self.register("address-1", type: "other"))
    #expect(error["member"] == "endpoint.type")
  }

  @Test("A guest's logout removes the device later, if the vendor can't be reached")
  func G24_aGuestsLogoutRemovesTheDevice() throws {
    let desk = try InAppDesk(settings: InAppDesk.mobileGuest)
    _ = try desk.open()
    _ = try desk.call("push.register", Self.register("address-1"))
    let route = "POST /iamessage/v1/device/registerDeviceCapabilities"
    try desk.script(["status": 503, "times": "forever"], at: route)
    #expect(try desk.call("messagingInApp.revokeToken")["backendInformed"] == false)
    let next = try desk.crashed()
    #expect(try next.call("instance.get")["pending"]?.arrayValue?.first?["purpose"] == "unregisterPush")
    try next.desk.vendor.clearScripts()
    try eventually("the device is removed") { try devices(next) == [] }
    #expect(try next.revokes() == 0)
  }

  @Test("v2 has no push, and says what has")
  func G24_v2HasNoPush() throws {
    let desk = try InAppDesk(script: InAppDesk.minting)
    let error = try desk.line.failure(
      "push.register", ["instance": "desk", "endpoint": ["address": "address-1", "type": "fcm"]])
    #expect(error.code == -32602)
    #expect(error.message.contains("api = \"v1\""))
    #expect(try desk.desk.vendor.log().isEmpty)
  }
}
