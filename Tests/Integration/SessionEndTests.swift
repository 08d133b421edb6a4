import Foundation
import JSONRPC
import Testing

/// Logouts that the daemon sends by itself, and logins of the same user: the vendor never gets a logout of a user who is
/// signed in or signing in.
@Suite struct SessionEndTests {
  private func messaging() throws -> (desk: Desk, line: Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", .messaging, user: "alice", on: line)
    return (desk, line)
  }

  /// Begins a login, and returns the id of the call.
  private func begin(_ user: String, on line: Line) throws -> Int {
    begin(with: try Vendor.mint(user), on: line)
  }

  private func begin(with jwt: String, on line: Line) -> Int {
    line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
  }

  private static let login = "POST /v2/apps/*/login"
  private static let logout = "POST /v2/apps/*/appusers/*/logout"

  private func logouts(_ desk: Desk) throws -> Int { try desk.vendor.count("POST", "/logout") }

  @Test("Two overlapping logins of one user send no logout", arguments: [1000, 3000])
  func R16_twoOverlappingLoginsOfAUserSendNoLogout(delay: Int) throws {
    let (desk, line) = try messaging()
    let jwts = try [3600, 3000].map { try Vendor.mint("alice", ttl: $0) }
    try desk.vendor.script(["route": .string(Self.login), "delayMs": 2000, "passThrough": true])
    let first = begin(with: jwts[0], on: line)
    try eventually("the first is at the vendor") { try desk.vendor.count("POST", "/login") == 1 }
    try desk.vendor.script(["route": .string(Self.login), "delayMs": JSON(delay), "passThrough": true])
    let second = begin(with: jwts[1], on: line)
    #expect(try line.answer(first)["error"]?["data"]?["reason"] == "superseded")
    #expect(try line.answer(second)["result"]?["externalId"] == "alice")
    try eventually("both are answered") { try desk.vendor.calls().filter { $0 == "POST login 200" }.count == 2 }
    // A stop waits until the late login is undone, if it is.
    #expect(desk.stop() == 0)
    #expect(try logouts(desk) == 0)
  }

  @Test("A late login whose user's next login is refused is undone after that")
  func R16_aLateLoginIsUndoneWhenTheNextOneOfItsUserIsRefused() throws {
    let (desk, line) = try messaging()
    let jwts = try [3600, 3000].map { try Vendor.mint("alice", ttl: $0) }
    try desk.vendor.script(["route": .string(Self.login), "delayMs": 2000, "passThrough": true])
    try desk.vendor.script(["route": .string(Self.login), "delayMs": 3000, "status": 401])
    let first = begin(with: jwts[0], on: line)
    try eventually("the first is at the vendor") { try desk.vendor.count("POST", "/login") == 1 }
    let second = begin(with: jwts[1], on: line)
    #expect(try line.answer(first)["error"]?["data"]?["reason"] == "superseded")
    #expect(try line.answer(second)["error"]?["data"]?["reason"] == "invalidAuth")
    try eventually("the late login is undone") { try logouts(desk) == 1 }
  }

  @Test("A login waits for the logout of the same user that is on its way")
  func R16_aLoginWaitsForTheLogoutOfItsUserThatIsOnItsWay() throws {
    let (desk, line) = try messaging()
    #expect(try line.answer(try begin("alice", on: line))["result"]?["externalId"] == "alice")
    try desk.vendor.script(["route": .string(Self.logout), "delayMs": 800, "passThrough": true])
    #expect(try line.answer(try begin("bob", on: line))["result"]?["externalId"] == "bob")
    try eventually("the former user's logout is on its way") { try logouts(desk) == 1 }
    #expect(try line.answer(try begin("alice", on: line))["result"]?["externalId"] == "alice")
    let order = try desk.vendor.calls().filter { $0.contains("login") || $0.contains("logout") }
    // Bob's own logout may have followed already.
    #expect(order.prefix(4).map { $0.contains("logout") } == [false, false, true, false])
    #expect(try desk.vendor.count("GET", "/appusers") == 0)
    // The present user's credential is still accepted.
    #expect(try line.call("session.open", ["instance": "desk"])["visible"] == true)
  }

  @Test("Undoing a late login sends no logout for a newer login of the same user")
  func R16_undoingALateAuthorizeKeepsTheNewerOneOfTheSameUser() throws {
    let desk = try EdnaDesk()
    try desk.script("WS /ed/ws CLIENT_INFO", ["delayMs": 500])
    let first = try desk.begin("u-alice")
    try eventually("the first is on its way") { try desk.frames("CLIENT_INFO").count == 1 }
    let second = try desk.begin("u-bob")
    try desk.script("WS /ed/ws CLIENT_INFO", ["delayMs": 900])
    let third = try desk.begin("u-alice")
    #expect(try desk.outcome(of: first)["type"] == "loginSuperseded")
    #expect(try desk.outcome(of: second)["type"] == "loginSuperseded")
    #expect(try desk.outcome(of: third)["type"] == "userLoggedIn")
    try desk.waitUntilOnline("u-alice")
    // The next logout of the user is the only one that the vendor gets.
    #expect(try !desk.offline.contains("u-alice"))
    try desk.call("logout", ["wait": true])
    #expect(try desk.offline.count { $0 == "u-alice" } == 1)
  }

  @Test(
    "A user whom a superseded login has logged out is not signed in, even if the next call fails",
    arguments: [["user": "u-alice"], ["user": "u-carol"], [:]] as [JSONObject])
  func R16_aUserWhomASupersededLoginHasLoggedOutIsNotSignedIn(next: JSONObject) throws {
    let desk = try EdnaDesk(settings: ["on_switch": "logout", "timeout": "2s"])
    try desk.authorize("u-alice")
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["delayMs": 700])
    let bob = try desk.begin("u-bob")
    try eventually("alice's logout is on its way") { try desk.frames("CLIENT_OFFLINE").count == 1 }
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["drop": true])
    if let user = next["user"]?.stringValue {
      try desk.script("WS /ed/ws registerDevice", ["drop": true])
      #expect(try desk.failure("authorize", EdnaDesk.user(user).merged(with: ["wait": true])).reason == "timeout")
    } else {
      try desk.call("logout", ["wait": true])
    }
    #expect(try desk.events().first { $0["operation"]?.stringValue == bob }?["type"] == "loginSuperseded")
    #expect(try desk.state == "loggedOut")
    let ends = try desk.events("userLoggedOut")
    #expect(ends.count == 1)
    #expect(ends.first?["data"]?["cause"] == (next["user"] == nil ? "explicit" : "switch"))
    #expect(try desk.offline == ["u-alice"])
    try desk.authorize("u-alice")
    try desk.waitUntilOnline("u-alice")
  }

  @Test(
    "A failed history after CLIENT_INFO does not undo the login",
    arguments: [["status": 503], ["status": 403], ["hang": true]] as [JSONObject])
  func E4_aHistoryThatFailsDoesNotUndoTheLogin(script: JSONObject) throws {
    let desk = try EdnaDesk(settings: ["timeout": "1s"])
    try desk.script("GET /api/client/history", script)
    let operation = try desk.begin("u-1")
    #expect(try desk.outcome(of: operation)["type"] == "userLoggedIn")
    #expect(try desk.externalId == "u-1")
    let before = try desk.requests("/history").count
    #expect(try desk.call("getChat")["visible"] == true)
    #expect(try desk.requests("/history").count == before + 1)
    #expect(try desk.call("getChat")["visible"] == true)
    #expect(try desk.requests("/history").count == before + 1, "it was read")
    try desk.call("logout", ["wait": true])
    #expect(try desk.offline == ["u-1"])
  }

  @Test(
    "A user whom the history refuses is taken offline again, unless they were signed in before",
    arguments: [true, false])
  func E4_aUserWhomTheHistoryRefusesIsTakenOfflineAgain(isFirst: Bool) throws {
    let desk = try EdnaDesk()
    if !isFirst { try desk.authorize("u-1", auth: ["token": "t-1"]) }
    try desk.script("GET /api/client/history", ["status": 401])
    #expect(
      try desk.failure("authorize", EdnaDesk.user("u-1", [:]).merged(with: ["wait": true, "auth": ["token": "t-2"]]))
        .reason == "invalidAuth")
    #expect(try desk.offline == (isFirst ? ["u-1"] : []))
  }

  @Test(
    "A logout while the history is on its way takes the user offline",
    arguments: [["delayMs": 700, "passThrough": true], ["delayMs": 700, "status": 503]] as [JSONObject])
  func E6_aLogoutDuringTheHistoryTakesTheUserOffline(script: JSONObject) throws {
    let desk = try EdnaDesk()
    try desk.script("GET /api/client/history", script)
    let login = try desk.begin("u-1")
    try eventually("the history is on its way") { try desk.requests("/history").count == 1 }
    try desk.call("logout")
    #expect(try desk.outcome(of: login)["type"] == "loginSuperseded")
    try eventually("the vendor has the user offline") { try desk.offline == ["u-1"] }
    #expect(try desk.state == "noUser" || desk.state == "loggedOut")
  }

  @Test("No CLIENT_INFO follows the CLIENT_OFFLINE of a logout", arguments: [0, 50, 100, 200])
  func E6_noClientInfoFollowsTheClientOfflineOfALogout(pause: Int) throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.call("updateData", ["data": ["plan": "gold"]])
    try desk.script("WS /ed/ws CLIENT_INFO", ["delayMs": 200])
    let other = try desk.desk.connect()
    let chat = other.begin("chatCenter.getChat", desk.params())
    usleep(UInt32(pause) * 1000)
    try desk.call("logout", ["wait": true])
    _ = try other.answer(chat)
    let frames = try desk.arrivals().filter { $0.hasPrefix("CLIENT_") }
    #expect(frames.last == "CLIENT_OFFLINE")
    #expect(try desk.vendorUser("u-1")?["online"] == false)
  }

  @Test("A logout follows an attempt to reconnect, which would bring the user online again")
  func E6_aLogoutFollowsAnAttemptToReconnect() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.script("WS /ed/ws registerDevice", ["delayMs": 700])
    let before = try desk.frames("registerDevice").count
    try desk.vendor.request("POST", "/_close", [:])
    try eventually("the reconnection is on its way") { try desk.frames("registerDevice").count > before }
    try desk.call("logout", ["wait": true])
    #expect(try desk.arrivals().filter { $0.hasPrefix("CLIENT_") }.last == "CLIENT_OFFLINE")
    #expect(try desk.vendorUser("u-1")?["online"] == false)
  }

  @Test("A logout follows a renewal in progress, which would bring the user online again")
  func E6_aLogoutFollowsARenewal() throws {
    let desk = try EdnaDesk(
      settings: ["refresh": ["min_interval": 0]], provider: { try $0.provider("echo '{\"token\": \"t-2\"}'") })
    try desk.authorize("u-1", auth: ["token": "t-1"])
    try desk.script("WS /ed/ws INIT_CHAT", ["delayMs": 700])
    let before = try desk.frames("INIT_CHAT").count
    let other = try desk.desk.connect()
    other.begin("token.refresh", desk.params())
    try eventually("the renewal is on its way") { try desk.frames("INIT_CHAT").count > before }
    try desk.call("logout", ["wait": true])
    #expect(try desk.arrivals().filter { $0.hasPrefix("CLIENT_") }.last == "CLIENT_OFFLINE")
    #expect(try desk.vendorUser("u-1")?["online"] == false)
  }

  @Test("A user whom a renewal brings online after the logout has ended is taken offline")
  func E6_aRenewalThatEndsAfterTheLogoutIsUndone() throws {
    // The logout waits for the renewal for one timeout only, and each step of the renewal takes less.
    let desk = try EdnaDesk(
      settings: ["timeout": "2s", "refresh": ["min_interval": 0]],
      provider: { try $0.provider("echo '{\"token\": \"t-2\"}'") })
    try desk.authorize("u-1", auth: ["token": "t-1"])
    for step in ["registerDevice", "INIT_CHAT", "CLIENT_INFO"] {
      try desk.script("WS /ed/ws \(step)", ["delayMs": 1600])
    }
    let before = try desk.frames("registerDevice").count
    let other = try desk.desk.connect()
    other.begin("token.refresh", desk.params())
    try eventually("the renewal is on its way") { try desk.frames("registerDevice").count > before }
    try desk.call("logout", ["wait": true])
    #expect(try desk.state == "loggedOut")
    try eventually("the renewal brings the user online") { try desk.frames("CLIENT_INFO").count == 2 }
    try eventually("the user is taken offline again") {
      try desk.arrivals().last { $0.hasPrefix("CLIENT_") } == "CLIENT_OFFLINE"
    }
    try eventually("the vendor has the user offline") { try desk.vendorUser("u-1")?["online"] == false }
    #expect(try desk.state == "loggedOut")
  }

  @Test("A late login is undone although the daemon stops")
  func R2_aLateLoginIsUndoneAlthoughTheDaemonStops() throws {
    let (desk, line) = try messaging()
    try desk.vendor.script(["route": .string(Self.login), "delayMs": 800, "passThrough": true])
    _ = try begin("alice", on: line)
    try eventually("the first is at the vendor") { try desk.vendor.count("POST", "/login") == 1 }
    #expect(try line.answer(try begin("bob", on: line))["result"]?["externalId"] == "bob")
    #expect(desk.stop() == 0)
    #expect(try logouts(desk) == 1)
  }

  @Test("A pending revocation is dropped when its tokens are set again")
  func R16_aPendingRevocationIsDroppedWhenItsTokensAreSetAgain() throws {
    let desk = try ServiceDesk()
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob))
    try desk.vendor.script(["route": "/services/oauth2/revoke", "status": 503])
    try desk.set(.null)
    try eventually("the revocation has failed") {
      try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.first?["attempts"] == 1
    }
    try desk.set(ServiceDesk.settings(bob))
    #expect(try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? [] == [])
    try desk.crash()
    #expect(try desk.revocations().isEmpty)
    #expect(try desk.open()["token"]?["token"] == bob["access_token"])
  }

  @Test("A revocation behind the removal of a device is dropped when its tokens are set again meanwhile")
  func R16_aRevocationBehindTheRemovalOfADeviceIsDropped() throws {
    let desk = try ServiceDesk()
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob))
    try desk.line.call(
      "push.register", desk.params("chat", ["endpoint": ["address": "device-one-00000000", "type": "fcm"]]))
    try desk.vendor.script(
      ["route": "DELETE /services/data/*/sobjects/MobilePushServiceDevice/*", "delayMs": 1500, "passThrough": true])
    try desk.set(.null)
    try eventually("the removal is on its way") { try desk.vendor.log().contains { $0["method"] == "DELETE" } }
    try desk.set(ServiceDesk.settings(bob))
    try eventually("nothing is left to do") {
      try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? [] == []
    }
    #expect(try desk.devices() == [])
    #expect(try desk.revocations().isEmpty)
    #expect(try desk.open()["token"]?["token"] == bob["access_token"])
  }

  /// With `isInFlight`, the vendor says whose the settings are only after the late answer.
  @Test("Undoing a late refresh keeps a grant that is set again meanwhile", arguments: [true, false])
  func R16_undoingALateRefreshKeepsAGrantThatIsSetAgain(isInFlight: Bool) throws {
    let desk = try ServiceDesk(client: ServiceDesk.rotating)
    let alice = try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.rotating), "rotating": true])
    let bob = try desk.grant("bob")
    try desk.scriptTokens(["delayMs": 1200, "passThrough": true])
    let other = try desk.desk.connect()
    other.begin("token.refresh", desk.params())
    try eventually("the refresh is on its way") { try desk.refreshes() == 1 }
    // The revocation of the switch itself waits, and is dropped when the tokens are set again.
    try desk.vendor.script(["route": "/services/oauth2/revoke", "status": 503])
    try desk.set(ServiceDesk.settings(bob))
    try eventually("the revocation has failed") { try desk.vendor.count("POST", "/revoke") == 1 }
    var settings = try #require(ServiceDesk.settings(alice).objectValue)
    if isInFlight {
      settings["identityUrl"] = nil
      try desk.vendor.script(["route": ServiceDesk.userInfo, "delayMs": 2500, "passThrough": true])
    }
    try desk.set(.object(settings))
    try eventually("the late refresh is answered") { try desk.grants().contains { $0["refreshes"] == 1 } }
    #expect(try desk.user()["id"]?.stringValue == ServiceDesk.userId(alice))
    #expect(desk.desk.stop() == 0)
    let grants = try desk.grants().filter { $0["user"] == "alice" }
    #expect(grants.map { $0["ended"] ?? .null } == [.null])
  }

  @Test("Signing out of one service keeps a grant that another service uses")
  func R16_aGrantThatAnotherServiceUsesIsNotRevoked() throws {
    let desk = try ServiceDesk()
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob), "chat")
    try desk.set(ServiceDesk.settings(bob), "cases")
    try desk.line.call("push.register", desk.params("cases", ["endpoint": ["address": "push-1", "type": "fcm"]]))
    try desk.set(.null, "cases")
    try eventually("the device is removed") { try desk.devices().isEmpty }
    #expect(try desk.refresh("chat")["fromCache"] == false)
    #expect(try desk.revocations().isEmpty)
  }

  @Test("Removing a service keeps a grant that another service uses")
  func R16_removingAServiceKeepsAGrantThatAnotherServiceUses() throws {
    let desk = try ServiceDesk(["services": ["cases", "chat"]])
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob), "chat")
    try desk.set(ServiceDesk.settings(bob), "cases")
    try desk.line.call("push.register", desk.params("cases", ["endpoint": ["address": "push-1", "type": "fcm"]]))
    try desk.line.call("instance.update", ["instance": "desk", "settings": ["services": ["chat"]]])
    try eventually("the device is removed") { try desk.devices().isEmpty }
    #expect(try desk.refresh("chat")["fromCache"] == false)
    #expect(try desk.revocations().isEmpty)
  }
}
