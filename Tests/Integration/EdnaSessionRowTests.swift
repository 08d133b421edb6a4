import Foundation
import JSONRPC
import Testing

/// The rows E6 to E13 of the design's table for Chat Center: logout, data, prefill, restarts and dead credentials.
@Suite struct EdnaSessionRowTests {
  @Test("A logout is sent to the vendor over the socket and clears everything")
  func E6_logoutTellsTheVendorOverTheSocketAndClearsEverything() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    let operation = try #require(try desk.call("logout")["operation"]?.stringValue)
    let event = try desk.outcome(of: operation)
    #expect(event["type"] == "userLoggedOut")
    #expect(event["data"]?["cause"] == "explicit")
    #expect(try desk.offline == ["u-1"])
    #expect(try desk.arrivals().last == "CLIENT_OFFLINE")
    #expect(try desk.state == "loggedOut")
    #expect(try desk.events("pushUnregistered").count == 1)
    #expect(try desk.call("push.list")["pushes"] == [])
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    try desk.crash()
    #expect(try desk.state == "loggedOut")
    #expect(try desk.failure("getChat").reason == "userNotAuthorized")
    try desk.authorize("u-1")
    #expect(try desk.call("getChat")["prefill"] == nil)
  }

  /// The failures of a logout: the route, its scripted response, whether the socket is connected, and the expected
  /// reason.
  private static let failures: [(route: String, script: JSONObject, isConnected: Bool, reason: String)] = [
    ("WS /ed/ws CLIENT_OFFLINE", ["close": true], true, "network"),
    ("WS /ed/ws CLIENT_OFFLINE", ["drop": true], true, "timeout"),
    ("WS /ed/ws CLIENT_OFFLINE", ["reply": ["data": ["error": "INTERNAL_ERROR"]]], true, "serverError"),
    ("GET /ed/ws", ["status": 503, "times": "forever"], false, "serverError"),
    ("GET /ed/ws", ["hang": true, "times": "forever"], false, "timeout"),
    ("WS /ed/ws registerDevice", ["drop": true, "times": "forever"], false, "timeout"),
  ]

  @Test("A failed logout is reported within the timeout and keeps everything", arguments: failures.indices)
  func E6_aLogoutThatFailsIsToldWithinTheTimeoutAndKeepsEverything(index: Int) throws {
    let (route, script, isConnected, reason) = Self.failures[index]
    let desk = try EdnaDesk(settings: ["timeout": "1s"])
    try desk.authorize("u-1", auth: ["token": "t"])
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    try desk.script(route, script)
    if !isConnected {
      let before = try desk.requests("/ws").count
      try desk.vendor.request("POST", "/_close", [:])
      try eventually("the connection is tried again") { try desk.requests("/ws").count > before }
    }
    let began = Date()
    let operation = try #require(try desk.call("logout")["operation"]?.stringValue)
    let event = try desk.outcome(of: operation)
    #expect(Date().timeIntervalSince(began) < 3)
    #expect(event["type"] == "logoutFailed", "\(route)")
    #expect(event["data"] == ["reason": .string(reason), "retrying": false], "\(route)")
    #expect(try desk.state == "authenticated")
    #expect(try desk.offline.isEmpty)
    try desk.vendor.clearScripts()
    try desk.crash()
    #expect(try desk.externalId == "u-1")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "mine")
    #expect(try desk.call("token.get")["token"] == "t")
    try desk.waitUntilOnline("u-1")
    #expect(try desk.call("getChat")["prefill"] == "Hello")
    #expect(try desk.offline.isEmpty)
  }

  @Test("With wait, the response has the failure")
  func E6_withWaitTheFailureIsTheAnswer() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["close": true])
    #expect(try desk.failure("logout", ["wait": true]).reason == "network")
    try desk.waitUntilOnline("u-1")
    #expect(try desk.call("logout", ["wait": true])["accepted"] == true)
    #expect(try desk.state == "loggedOut")
  }

  @Test("A failed logout is retried with the sealed credentials, even after a restart")
  func E6_aFailedLogoutIsRetriedAcrossRestartsWithTheSealedCredentials() throws {
    let desk = try EdnaDesk(settings: ["retry_logout": true, "timeout": "1s"])
    try desk.token("t-alice", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-alice"])
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["close": true, "times": "forever"])
    let operation = try #require(try desk.call("logout")["operation"]?.stringValue)
    #expect(try desk.outcome(of: operation)["data"] == ["reason": "network", "retrying": true])
    #expect(try desk.call("instance.get")["pending"]?.arrayValue?.first?["purpose"] == "logout")
    try desk.crash()
    #expect(try desk.call("instance.get")["pending"]?.arrayValue?.first?["purpose"] == "logout")
    #expect(try desk.externalId == "u-1")
    try desk.vendor.clearScripts()
    try desk.waitFor(state: "loggedOut")
    #expect(try desk.offline == ["u-1"])
    #expect(try desk.events("userLoggedOut").count == 1)
    // The vendor has accepted the logout, so it has removed the push registration too.
    #expect(try desk.events("pushOrphaned").isEmpty)
    #expect(try desk.call("push.list")["pushes"] == [])
    try eventually("nothing is pending") { try desk.call("instance.get")["pending"] == nil }
    try desk.crash()
    #expect(try desk.state == "loggedOut")
    #expect(try desk.offline == ["u-1"])
  }

  @Test("A new login of the same user cancels the retry", arguments: [["token": "t-1"], ["token": "t-2"]] as [JSON])
  func E6_aRetryIsDroppedWhenItsUserAuthorizesAgain(auth: JSON) throws {
    let desk = try EdnaDesk(settings: ["retry_logout": true, "timeout": "1s"])
    try desk.authorize("u-1", auth: ["token": "t-1"])
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["close": true, "times": "forever"])
    #expect(try desk.failure("logout", ["wait": true]).reason == "network")
    #expect(try desk.call("instance.get")["pending"]?.arrayValue?.count == 1)
    // Authorizing with the same auth costs no request, and still cancels the pending logout.
    try desk.authorize("u-1", auth: auth)
    #expect(try desk.call("instance.get")["pending"] == nil)
    try desk.vendor.clearScripts()
    try desk.crash()
    try desk.waitUntilOnline("u-1")
    #expect(try desk.call("instance.get")["pending"] == nil)
    #expect(try desk.offline.isEmpty)
    #expect(try desk.state == "authenticated")
  }

  @Test func E6_aLogoutSupersedesALoginInFlight() throws {
    let desk = try EdnaDesk()
    try desk.script("WS /ed/ws CLIENT_INFO", ["delayMs": 400])
    let login = try desk.begin("u-1")
    try eventually("the login is on its way") { try desk.frames("CLIENT_INFO").count == 1 }
    let logout = try #require(try desk.call("logout")["operation"]?.stringValue)
    #expect(try desk.outcome(of: login)["type"] == "loginSuperseded")
    #expect(try desk.outcome(of: logout)["type"] == "loginSuperseded", "nobody was reported in")
    try eventually("the late login is undone") { try desk.offline == ["u-1"] }
    #expect(try desk.externalId == nil)
  }

  @Test("A logout without a user fails")
  func E7_logoutWithoutAUserThrows() throws {
    let desk = try EdnaDesk()
    let refused = try desk.failure("logout")
    #expect(refused.reason == "userNotAuthorized")
    #expect(refused.code == -32010)
    try desk.authorize("u-1")
    try desk.call("logout", ["wait": true])
    try desk.crash()
    #expect(try desk.failure("logout").reason == "userNotAuthorized")
    #expect(try desk.vendor.log().count == 7)
  }

  @Test("A call of deauthorizeUser is local, and complete when it returns")
  func E8_deauthorizeIsLocalAndDoneAtTheReply() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1", auth: ["token": "t"])
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    try desk.call("updateData", ["data": ["plan": "gold"]])
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    #expect(try desk.call("deauthorizeUser") == [:])
    #expect(try desk.state == "noUser")
    #expect(try desk.failure("token.get").reason == "userNotAuthorized")
    #expect(try desk.events("userLoggedOut").first?["data"]?["cause"] == "deauthorized")
    #expect(try desk.call("push.list")["pushes"]?.arrayValue?.first?["orphaned"] == true)
    try eventually("the socket is closed") { try desk.vendorUser("u-1")?["online"] == false }
    #expect(try desk.offline.isEmpty)
    try desk.crash()
    #expect(try desk.state == "noUser")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    try desk.authorize("u-1")
    let session = try desk.call("getChat")
    #expect(session["prefill"] == nil)
    #expect(session["data"] == nil)
    #expect(try desk.call("deauthorizeUser") == [:])
    #expect(try desk.call("deauthorizeUser") == [:])
  }

  // MARK: E9, E10, E11

  @Test("Updated data is delivered when a chat opens with a live socket")
  func E9_updatedDataIsDeliveredWhenAChatOpensWithALiveSocket() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1", user: ["name": "Alice", "data": ["plan": "gold"]])
    try desk.call("updateData", ["data": ["plan": "silver", "city": "Riga"]])
    try desk.crash()
    try desk.waitUntilOnline("u-1")
    #expect(try desk.vendorUser("u-1")?["info"]?["data"] == ["plan": "gold"])
    // Without a socket the chat opens, and the updated data is kept.
    try desk.script("GET /ed/ws", ["status": 503, "times": "forever"])
    try desk.vendor.request("POST", "/_close", [:])
    try eventually("the socket is gone") { try desk.vendorUser("u-1")?["online"] == false }
    #expect(try desk.call("getChat")["data"] == ["plan": "silver", "city": "Riga"])
    try desk.vendor.clearScripts()
    try desk.waitUntilOnline("u-1")
    try desk.call("getChat")
    #expect(try desk.vendorUser("u-1")?["info"]?["data"] == ["plan": "silver", "city": "Riga"])
    #expect(try desk.vendorUser("u-1")?["info"]?["name"] == "Alice")
    // The data is delivered once. After a restart the daemon sends the data that the vendor has.
    let count = try desk.frames("CLIENT_INFO").count
    try desk.call("getChat")
    #expect(try desk.frames("CLIENT_INFO").count == count)
    try desk.crash()
    try eventually("the session is up again") { try desk.frames("CLIENT_INFO").count == count + 1 }
    #expect(try desk.frames("INIT_CHAT").last?["content"]?["data"] == ["plan": "silver", "city": "Riga"])
  }

  @Test("Null sends the empty set, which is sent again if the acknowledgement is lost")
  func E9_nullSendsTheEmptySetAndALostAcknowledgementSendsItAgain() throws {
    let desk = try EdnaDesk(settings: ["timeout": "1s"])
    try desk.authorize("u-1", user: ["data": ["plan": "gold"]])
    try desk.call("updateData", ["data": .null])
    try desk.script("WS /ed/ws CLIENT_INFO", ["drop": true])
    #expect(try desk.call("getChat")["visible"] == true)
    try desk.call("getChat")
    let sent = try desk.frames("CLIENT_INFO").dropFirst().map { $0["content"]?["data"] }
    #expect(sent == [[:], [:]])
    try desk.call("getChat")
    #expect(try desk.frames("CLIENT_INFO").count == 3)
  }

  @Test("Data without a user, or with values that are not strings, is refused")
  func E9_withoutAUserOrWithOtherThanTextsItIsRefused() throws {
    let desk = try EdnaDesk()
    #expect(try desk.failure("updateData", ["data": ["a": "b"]]).reason == "userNotAuthorized")
    try desk.authorize("u-1")
    #expect(try desk.failure("updateData", ["data": ["a": 1]]).code == -32602)
    let large = String(repeating: "x", count: 20_000)
    #expect(try desk.failure("updateData", ["data": ["a": .string(large)]]).data["member"] == "data")
  }

  @Test("A prefill is returned once, even across restarts")
  func E10_prefillIsGivenOnceAlsoAcrossRestarts() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.call("prefill", ["message": "First"])
    try desk.call("prefill", ["message": "Hello"])
    try desk.crash()
    #expect(try desk.call("session.open")["prefill"] == "Hello")
    #expect(try desk.call("getChat")["prefill"] == nil)
    try desk.call("prefill", ["message": "Again"])
    #expect(try desk.call("getChat")["prefill"] == "Again")
    try desk.crash()
    #expect(try desk.call("getChat")["prefill"] == nil)
    try desk.call("prefill", ["message": "Never"])
    try desk.call("prefill", ["message": ""])
    #expect(try desk.call("getChat")["prefill"] == nil)
  }

  @Test("A prefill without a user is kept for the next user")
  func E10_prefillWithoutAUserWaitsForWhoeverComesNext() throws {
    let desk = try EdnaDesk()
    try desk.call("prefill", ["message": "Hello"])
    #expect(try desk.failure("getChat").reason == "userNotAuthorized")
    try desk.crash()
    try desk.authorize("u-1")
    #expect(try desk.call("getChat")["prefill"] == "Hello")
    try desk.call("deauthorizeUser")
    try desk.call("prefill", ["message": "Gone"])
    try desk.call("deauthorizeUser")
    try desk.authorize("u-1")
    #expect(try desk.call("getChat")["prefill"] == nil)
  }

  @Test("A prefill or data that is set during a login is not lost")
  func E10_whatIsSetWhileALoginIsUnderWayIsNotLost() throws {
    let desk = try EdnaDesk()
    try desk.script("/api/chat/config", ["delayMs": 300, "passThrough": true, "times": "forever"])
    _ = try desk.begin("u-1")
    try desk.call("prefill", ["message": "Hello"])
    #expect(try desk.call("getChat")["prefill"] == "Hello")
    // A change of credentials that began before the delivery does not bring the prefill back.
    try desk.call("prefill", ["message": "Once"])
    _ = try desk.begin("u-1", auth: ["token": "t-2"])
    try desk.call("updateData", ["data": ["plan": "gold"]])
    #expect(try desk.call("getChat")["prefill"] == "Once")
    let session = try desk.call("getChat")
    #expect(session["prefill"] == nil)
    #expect(session["data"] == ["plan": "gold"])
    #expect(try desk.vendorUser("u-1")?["info"]?["data"] == ["plan": "gold"])
  }

  @Test func E11_theChatNeedsAUser() throws {
    let desk = try EdnaDesk()
    for method in ["getChat", "session.open", "token.get"] {
      let refused = try desk.failure(method)
      #expect(refused.reason == "userNotAuthorized")
      #expect(refused.code == -32010)
    }
    #expect(try desk.vendor.log().isEmpty)
  }

  // MARK: E12

  @Test("After a restart, the session connects again without a call")
  func E12_theSessionIsUpAgainAfterARestartWithoutACall() throws {
    let desk = try EdnaDesk()
    try desk.token("t-alice", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-alice", "scheme": "jwt"], user: ["name": "Alice"])
    let address = try desk.call("getChat")["endpoint"]?["deviceAddress"]
    try desk.crash()
    try eventually("the session is up again") { try desk.frames("CLIENT_INFO").count == 2 }
    try desk.waitUntilOnline("u-1")
    #expect(try desk.state == "authenticated")
    #expect(try desk.frames("registerDevice").last?["deviceAddress"] == address)
    #expect(try desk.call("token.get")["token"] == "t-alice")
    #expect(try desk.requests("/config").count == 1)
  }

  @Test("A lost connection is restored automatically")
  func E12_aBrokenConnectionComesBackByItself() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.script("GET /ed/ws", ["status": 503])
    try desk.vendor.request("POST", "/_close", ["code": 1001])
    try eventually("the connection is there again") { try desk.frames("CLIENT_INFO").count == 2 }
    #expect(try desk.state == "authenticated")
    #expect(try desk.events("userLoggedOut").isEmpty)
  }

  @Test("A device that the vendor has lost gets a new address")
  func E12_aVendorThatHasForgottenTheDeviceGivesItANewAddress() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.vendor.request("DELETE", "/_state")
    try desk.vendor.request("POST", "/_close", [:])
    try eventually("the device is known again") { try desk.vendorUser("u-1")?["online"] == true }
    let address = try #require(try desk.vendorState["devices"]?.arrayValue?.first?["deviceAddress"])
    try eventually("the new address is known") { try desk.call("getChat")["endpoint"]?["deviceAddress"] == address }
    #expect(
      try desk.call("token.get", ["http": true])["http"]?["headers"]?["X-Client-Token"]?.stringValue?
        .hasPrefix(address.stringValue ?? "?") == true)
  }

  @Test("A connection without responses to its pings is replaced")
  func E12_aConnectionWithoutAnswersToItsPingsIsMadeAnew() throws {
    let desk = try EdnaDesk()
    try desk.script(
      "/api/chat/config", ["body": ["settings": ["pingEnabled": true, "pingIntervalMillis": 1000]], "status": 200])
    try desk.authorize("u-1")
    try desk.script("WS /ed/ws ping", ["drop": true])
    try eventually("the connection is there again") { try desk.frames("CLIENT_INFO").count == 2 }
    #expect(try desk.state == "authenticated")
  }

  @Test("Without persistent credentials, a restart removes the user and the user's data")
  func E12_withoutPersistenceARestartForgetsTheUserAndWhatWasTheirs() throws {
    let desk = try EdnaDesk(settings: ["persist_credentials": false])
    try desk.authorize("u-1")
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    let epoch = try desk.call("instance.get")["storageEpoch"]
    try desk.crash()
    #expect(try desk.state == "noUser")
    #expect(try desk.failure("getChat").reason == "userNotAuthorized")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    #expect(try desk.call("instance.get")["storageEpoch"] != epoch)
    #expect(try desk.call("push.list")["pushes"]?.arrayValue?.first?["orphaned"] == true)
    #expect(try desk.events("identityWiped").count == 1)
    try desk.authorize("u-1")
    #expect(try desk.call("push.list")["pushes"]?.arrayValue?.first?["orphaned"] == false, "it is theirs again")
    #expect(try desk.frames("CLIENT_INFO").count == 2)
  }

  // MARK: E13

  @Test(
    "After a refusal on the socket, the user is authorized with credentials from the provider",
    arguments: ["expired", "invalid"])
  func E13_refusedOnTheSocketItIsAuthorizedAgainWithWhatTheBridgeAnswers(details: String) throws {
    let desk = try EdnaDesk { try $0.provider("cat > question.json; echo '{\"token\": \"t-2\", \"scheme\": \"new\"}'") }
    try desk.token("t-1", of: "u-1")
    try desk.token("t-2", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-1", "scheme": "old"], user: ["data": ["plan": "gold"]])
    try desk.call("prefill", ["message": "Hello"])
    try desk.vendor.request("POST", "/_unauthorized", ["clientId": "u-1", "details": .string(details)])
    try eventually("the credentials are new") { try desk.call("token.get")["token"] == "t-2" }
    #expect(try desk.state == "authenticated")
    #expect(try desk.events("tokenRefreshed").count == 1)
    #expect(try desk.events("authenticationFailed").isEmpty)
    #expect(try desk.events("userLoggedIn").count == 1)
    #expect(try desk.vendorUser("u-1")?["auth"] == ["method": "headers", "token": "t-2", "scheme": "new"])
    // The auth of the app's last call still counts as the same auth, although the bridge has replaced it.
    let before = try desk.vendor.log().count
    try desk.authorize("u-1", auth: ["token": "t-1", "scheme": "old"])
    #expect(try desk.vendor.log().count == before)
    try desk.crash()
    #expect(try desk.call("getChat")["prefill"] == "Hello")
    try desk.waitUntilOnline("u-1")
    #expect(try desk.call("token.get")["token"] == "t-2")
  }

  @Test("Without a provider, the user is kept, and a new login with other credentials recovers the session")
  func E13_withoutABridgeTheUserIsKeptAndAFreshAuthorizeRepairsIt() throws {
    let desk = try EdnaDesk()
    for token in ["t-1", "t-2"] { try desk.token(token, of: "u-1") }
    try desk.authorize("u-1", auth: ["token": "t-1"])
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.vendor.request("POST", "/_unauthorized", ["clientId": "u-1"])
    try desk.waitFor(state: "reauthNeeded")
    let failure = try #require(try desk.events("authenticationFailed").first)
    #expect(failure["data"]?["reason"] == "invalidAuth")
    #expect(failure["data"]?["vendorCode"] == "UNAUTHORIZED")
    #expect(failure["data"]?["vendorDescription"] == "expired")
    #expect(try desk.call("getChat")["reason"] == "reauthNeeded")
    try desk.crash()
    #expect(try desk.state == "reauthNeeded")
    #expect(try desk.failure("token.get").reason == "reauthNeeded")
    try desk.authorize("u-1", auth: ["token": "t-2"])
    #expect(try desk.state == "authenticated")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "mine")
  }

  @Test(
    "A logout with refused credentials asks the provider once, and is local if the vendor refuses it",
    arguments: [true, false])
  func E13_aLogoutWithRefusedCredentialsAsksTheOwner(isAnswered: Bool) throws {
    let desk = try EdnaDesk(settings: ["retry_logout": true, "refresh": ["mode": "lazy"]]) {
      try $0.provider("[ -e '\($0.folder.path)/ready' ] || exit 1; echo '{\"token\": \"t-2\"}'")
    }
    try desk.token("t-1", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-1"])
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    try desk.vendor.request("POST", "/_revoke", ["sdk": "ed", "externalId": "u-1"])
    try desk.vendor.request("POST", "/_unauthorized", ["clientId": "u-1"])
    try desk.waitFor(state: "reauthNeeded")
    if isAnswered {
      try desk.token("t-2", of: "u-1")
      try desk.desk.write("ready", "")
      try eventually("the provider may run again") {
        try desk.call("instance.get")["bridge"]?["state"]?.stringValue != "open"
      }
    }
    try desk.call("logout", ["wait": true])
    #expect(try desk.offline == (isAnswered ? ["u-1"] : []))
    #expect(try desk.events("userLoggedOut").count == 1)
    #expect(try desk.events("logoutFailed").isEmpty)
    #expect(try desk.events("pushOrphaned").count == (isAnswered ? 0 : 1))
    #expect(try desk.call("instance.get")["pending"] == nil)
  }

  @Test("After a refusal over HTTP, the provider is asked")
  func E13_refusedOverHTTPAfterARestartTheBridgeIsAsked() throws {
    let desk = try EdnaDesk { try $0.provider("echo '{\"token\": \"t-2\"}'") }
    for token in ["t-1", "t-2"] { try desk.token(token, of: "u-1") }
    try desk.authorize("u-1", auth: ["token": "t-1"])
    let id = try desk.call("token.get")["tokenId"] ?? .null
    try desk.script("/api/client/history", ["status": 401])
    try desk.call("token.reject", ["tokenId": id, "status": 401])
    #expect(try desk.call("token.get")["token"] == "t-2")
    #expect(try desk.state == "authenticated")
  }

  @Test("A token that an app reports as refused is kept if the vendor is down")
  func E13_aReportedTokenIsProbedAndKeptWhenTheVendorTakesItOrIsDown() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1", auth: ["token": "t-1"])
    let id = try desk.call("token.get")["tokenId"] ?? .null
    try desk.script("/api/client/history", ["status": 500])
    try desk.call("token.reject", ["tokenId": id, "status": 401])
    // The first request for the history belonged to the authorization.
    try eventually("the vendor is asked") { try desk.requests("/history").count == 2 }
    #expect(try desk.state == "authenticated")
    #expect(try desk.requests("/history").last?["query"]?.stringValue?.contains("count=1") == true)
    #expect(try desk.events("authenticationFailed").isEmpty)
    #expect(try desk.externalId == "u-1")
  }

  @Test("Credentials that became invalid while the daemon was down are renewed at start")
  func E13_credentialsThatEndedWhileTheDaemonWasDownAreRenewedAtStart() throws {
    let desk = try EdnaDesk { try $0.provider("echo '{\"token\": \"t-2\"}'") }
    try desk.token("t-1", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-1"])
    try desk.vendor.request("POST", "/_revoke", ["sdk": "ed", "externalId": "u-1"])
    try desk.token("t-2", of: "u-1")
    try desk.crash()
    try eventually("the credentials are new") { try desk.call("token.get")["token"] == "t-2" }
    try desk.waitUntilOnline("u-1")
  }

  @Test("Credentials that are refused again and again lead to reauthNeeded")
  func E13_credentialsThatAreRefusedAgainAndAgainEndInReauthNeeded() throws {
    let desk = try EdnaDesk(settings: ["refresh": ["max_attempts": 2]]) {
      try $0.provider("echo '{\"token\": \"bad\"}'")
    }
    try desk.token("t-1", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-1"])
    try desk.vendor.request("POST", "/_unauthorized", ["clientId": "u-1", "details": "invalid"])
    try desk.waitFor(state: "reauthNeeded")
    #expect(try desk.requests("/config").count == 3)
    #expect(try desk.events("authenticationFailed").count == 1)
    #expect(try desk.externalId == "u-1")
    #expect(try desk.events("userLoggedOut").isEmpty)
  }

  @Test("A response of the provider without a credential is invalid output")
  func E13_anAnswerThatProvesNothingIsTheProvidersFault() throws {
    let desk = try EdnaDesk { try $0.provider("echo '{\"scheme\": \"x\"}'") }
    try desk.authorize("u-1", auth: ["token": "t-1"])
    #expect(try desk.failure("token.refresh").reason == "providerOutputInvalid")
    #expect(try desk.call("token.get")["token"] == "t-1")
  }

  @Test("A wrong provider_uid is refused with forbidden")
  func E13_anotherProviderUidIsForbidden() throws {
    let desk = try EdnaDesk(settings: ["provider_uid": "somebody-elses"])
    let refused = try desk.failure("authorize", EdnaDesk.user("u-1").merged(with: ["wait": true]))
    #expect(refused.reason == "forbidden")
    #expect(refused.code == -32021)
    #expect(try desk.state == "noUser")
  }

  // MARK: Secrets

  @Test("No log or event contains the identifier, the token or the signature")
  func E2_identifierTokenAndSignatureReachNoLogAndNoEvent() throws {
    let desk = try EdnaDesk {
      try $0.provider("echo '{\"token\": \"token-secret-2\", \"signature\": \"sign-secret-2\"}'")
    }
    try desk.token("token-secret-1", of: "identifier-secret")
    try desk.token("token-secret-2", of: "identifier-secret")
    try desk.authorize("identifier-secret", auth: ["token": "token-secret-1", "signature": "sign-secret-1"])
    try desk.call("push.register", ["endpoint": ["address": "push-secret-1", "type": "fcm"]])
    try desk.vendor.request("POST", "/_unauthorized", ["clientId": "identifier-secret"])
    try eventually("the credentials are new") { try desk.call("token.get")["token"] == "token-secret-2" }
    try desk.script("/api/chat/config", ["status": 401])
    _ = try desk.failure(
      "authorize", EdnaDesk.user("other-secret").merged(with: ["auth": ["token": "token-secret-3"], "wait": true]))
    try desk.call("deauthorizeUser")
    let told = JSONWriter.text(of: .array(try desk.events())) + desk.desk.logs
    for secret in ["identifier-secret", "token-secret", "sign-secret", "push-secret", "other-secret"] {
      #expect(!told.contains(secret), "\(secret)")
    }
    #expect(told.contains("userLoggedIn"))
  }
}
