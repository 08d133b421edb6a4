import Foundation
import JSONRPC
import Testing

/// The rows E1 to E5 of the design's table for Chat Center, through the socket, the daemon, real HTTP and WebSockets.
@Suite struct EdnaRowTests {
  @Test("A call of authorize returns when accepted; its outcome is an event with the same operation")
  func E1_authorizeAnswersWhenAcceptedAndItsOutcomeIsAnEventWithItsOperation() throws {
    let desk = try EdnaDesk()
    let operation = try desk.begin("u-1", user: ["name": "Alice", "data": ["plan": "gold"]])
    let event = try desk.outcome(of: operation)
    #expect(event["type"] == "userLoggedIn")
    #expect(event["data"]?["user"]?["name"] == "Alice")
    #expect(event["data"]?["user"]?["authenticationType"] == "custom")
    // The vendor has acknowledged the last of the three steps by then.
    #expect(
      try desk.arrivals() == ["chat/config", "ed/ws", "registerDevice", "INIT_CHAT", "CLIENT_INFO", "client/history"])
    #expect(try desk.vendorUser("u-1")?["info"]?["name"] == "Alice")
    #expect(try desk.vendorUser("u-1")?["data"] == ["plan": "gold"])
    #expect(try desk.vendorUser("u-1")?["online"] == true)
    #expect(try desk.state == "authenticated")
  }

  @Test("With wait, the response has the outcome")
  func E1_withWaitTheOutcomeIsTheAnswer() throws {
    let desk = try EdnaDesk()
    let user = try desk.authorize("u-1", user: ["name": "Alice"])
    #expect(user["externalId"] == "u-1")
    #expect(user["name"] == "Alice")
    #expect(user["authenticated"] == true)
    try desk.token("t-bob", of: "u-2")
    let refused = try desk.failure("authorize", EdnaDesk.user("u-2", [:]).merged(with: ["wait": true]))
    #expect(refused.code == -32021)
    #expect(refused.reason == "invalidAuth")
    #expect(refused.data["vendorCode"] == "UNAUTHORIZED")
    #expect(try desk.externalId == "u-1")
  }

  @Test("The caller's timeout ends the wait, but not the login")
  func E1_theCallersPatienceEndsTheWaitAndNotTheLogin() throws {
    let desk = try EdnaDesk()
    try desk.script("/api/chat/config", ["delayMs": 1500, "passThrough": true])
    let late = try desk.failure("authorize", EdnaDesk.user("u-1").merged(with: ["wait": true, "timeout": 0.2]))
    #expect(late.reason == "timeout")
    try desk.waitFor(state: "authenticated")
  }

  /// The failures of each step at the vendor: the route, its scripted response, and the expected event and reason.
  private static let failures: [(route: String, script: JSONObject, event: String, reason: String)] = [
    ("/api/chat/config", ["status": 401], "authenticationFailed", "invalidAuth"),
    ("/api/chat/config", ["status": 403], "authenticationFailed", "forbidden"),
    ("/api/chat/config", ["status": 500], "networkError", "serverError"),
    ("/api/chat/config", ["status": 429], "networkError", "rateLimited"),
    ("/api/chat/config", ["body": "not JSON"], "networkError", "badResponse"),
    ("/api/chat/config", ["hang": true], "networkError", "timeout"),
    ("GET /ed/ws", ["status": 503], "networkError", "serverError"),
    ("GET /ed/ws", ["status": 401], "authenticationFailed", "invalidAuth"),
    ("GET /ed/ws", ["closeMidBody": true], "networkError", "network"),
    ("GET /ed/ws", ["hang": true], "networkError", "timeout"),
    ("WS /ed/ws registerDevice", ["drop": true], "networkError", "timeout"),
    ("WS /ed/ws registerDevice", ["close": true], "networkError", "network"),
    ("WS /ed/ws registerDevice", ["reply": ["data": [:]]], "networkError", "badResponse"),
    (
      "WS /ed/ws registerDevice", ["reply": ["data": ["error": "UNAUTHORIZED", "errorDetails": "expired"]]],
      "authenticationFailed", "invalidAuth"
    ),
    ("WS /ed/ws registerDevice", ["reply": ["data": ["error": "FORBIDDEN"]]], "authenticationFailed", "forbidden"),
    ("WS /ed/ws INIT_CHAT", ["drop": true], "networkError", "timeout"),
    (
      "WS /ed/ws INIT_CHAT", ["reply": ["data": ["error": "UNAUTHORIZED", "errorDetails": "invalid"]]],
      "authenticationFailed", "invalidAuth"
    ),
    ("WS /ed/ws CLIENT_INFO", ["drop": true], "networkError", "timeout"),
    ("WS /ed/ws CLIENT_INFO", ["close": 1011], "networkError", "network"),
    ("WS /ed/ws CLIENT_INFO", ["reply": ["data": ["error": "NEW"]]], "networkError", "badResponse"),
    ("GET /api/client/history", ["status": 401], "authenticationFailed", "invalidAuth"),
  ]

  @Test("A failure of any step is reported once and keeps the former user", arguments: failures.indices)
  func E1_whateverFailsOnTheWayIsToldOnceAndLeavesTheFormerUser(index: Int) throws {
    let (route, script, event, reason) = Self.failures[index]
    let desk = try EdnaDesk(settings: ["timeout": "1s"])
    try desk.authorize("u-1")
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.script(route, script)
    let operation = try desk.begin("u-2")
    let outcome = try desk.outcome(of: operation)
    #expect(outcome["type"]?.stringValue == event, "\(route)")
    #expect(outcome["data"]?["reason"]?.stringValue == reason, "\(route)")
    #expect(try desk.events().count { $0["operation"]?.stringValue == operation } == 1)
    #expect(try desk.externalId == "u-1")
    #expect(try desk.state == "authenticated")
    try desk.vendor.clearScripts()
    try desk.crash()
    #expect(try desk.externalId == "u-1")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "mine")
    try desk.waitUntilOnline("u-1")
  }

  @Test func E1_theSameCallTwiceIsOneLoginWithTwoOutcomes() throws {
    let desk = try EdnaDesk()
    try desk.script("/api/chat/config", ["delayMs": 300, "passThrough": true])
    let operations = [try desk.begin("u-1"), try desk.begin("u-1")]
    for operation in operations { #expect(try desk.outcome(of: operation)["type"] == "userLoggedIn") }
    #expect(try desk.frames("registerDevice").count == 1)
  }

  @Test("A newer call supersedes the one in flight, and both outcomes are reported")
  func E1_aNewerCallSupersedesTheOneInFlightAndBothOutcomesAreTold() throws {
    let desk = try EdnaDesk()
    try desk.script("WS /ed/ws CLIENT_INFO", ["delayMs": 500])
    let first = try desk.begin("u-1")
    try eventually("the first is on its way") { try desk.frames("CLIENT_INFO").count == 1 }
    let second = try desk.begin("u-2")
    #expect(try desk.outcome(of: first)["type"] == "loginSuperseded")
    #expect(try desk.outcome(of: second)["type"] == "userLoggedIn")
    #expect(try desk.externalId == "u-2")
    // The login that was superseded is undone at the vendor.
    try eventually("the late one is undone") { try desk.offline == ["u-1"] }
    try desk.crash()
    #expect(try desk.externalId == "u-2")
  }

  @Test("Calls right after an accepted login apply to its user")
  func E1_whatFollowsAtOnceIsAboutTheUserWhoWasAccepted() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.script("/api/chat/config", ["delayMs": 400, "passThrough": true])
    _ = try desk.begin("u-2")
    try desk.call("updateData", ["data": ["plan": "gold"]])
    #expect(try desk.externalId == "u-2")
    try desk.script("/api/chat/config", ["delayMs": 400, "passThrough": true])
    _ = try desk.begin("u-3")
    let session = try desk.call("getChat")
    #expect(session["user"]?["externalId"] == "u-3")
    #expect(session["data"] == nil)
    try desk.script("/api/chat/config", ["delayMs": 400, "passThrough": true])
    _ = try desk.begin("u-4")
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    #expect(try desk.call("push.list")["pushes"]?.arrayValue?.first?["orphaned"] == false)
    #expect(try desk.externalId == "u-4")
  }

  // MARK: E2

  @Test("An empty or malformed identifier is refused without a request", arguments: ["", "   ", "a\nb", "a\u{0}"])
  func E2_anIdentifierThatIsNoneIsRefusedWithoutARequest(identifier: String) throws {
    let desk = try EdnaDesk()
    let refused = try desk.failure("authorize", EdnaDesk.user(identifier))
    #expect(refused.code == -32020)
    #expect(refused.reason == "invalidIdentifier")
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.state == "noUser")
  }

  @Test(
    "An identifier that is easy to guess causes a hint",
    arguments: ["+7 (912) 345-67-89", "89123456789", "alice@example.com"])
  func E2_anIdentifierThatCanBeGuessedIsHintedAt(identifier: String) throws {
    let desk = try EdnaDesk()
    let answer = try desk.call("authorize", EdnaDesk.user(identifier))
    #expect(answer["accepted"] == true)
    #expect(answer["hints"]?.arrayValue?.first?.stringValue?.hasPrefix("weakIdentifier") == true)
    try desk.waitFor(state: "authenticated")
    let waiting = try EdnaDesk()
    try waiting.authorize(identifier)
    for desk in [desk, waiting] {
      let hints = try desk.events("userLoggedIn").first?["data"]?["hints"]?.arrayValue
      #expect(hints?.first?.stringValue?.hasPrefix("weakIdentifier") == true)
    }
    let strict = try EdnaDesk(settings: ["strict_identifiers": true])
    #expect(try strict.failure("authorize", EdnaDesk.user(identifier)).reason == "weakIdentifier")
    #expect(try strict.vendor.log().isEmpty)
    #expect(try strict.events("authenticationFailed").first?["data"]?["reason"] == "weakIdentifier")
  }

  @Test(arguments: [nil, "rsa-oaep-sha256", "rsa-oaep-sha1", "rsa-pkcs1"])
  func E2_identifiersAreEncryptedWithTheConfiguredKey(scheme: String?) throws {
    var settings: JSONObject = ["strict_identifiers": true]
    let keys = try Desk().vendor.request("GET", "/_keys")
    settings["identifier_public_key"] = keys["ed"]?["publicKey"]
    settings["identifier_encryption"] = scheme.map(JSON.string)
    let desk = try EdnaDesk(settings: settings)
    try desk.authorize("alice@example.com")
    let user = try #require(try desk.vendorUser("alice@example.com"))
    #expect(user["encryption"]?.stringValue == scheme ?? "rsa-oaep-sha256")
    #expect(user["info"]?["clientIdIsEncrypted"] == true)
    let sent = try #require(user["encryptedClientId"]?.stringValue)
    #expect(try desk.call("getChat")["endpoint"]?["clientId"]?.stringValue == sent)
    // The identifier is encrypted once: the same text is sent everywhere, also after a restart.
    try desk.crash()
    try eventually("the session is up again") { try desk.frames("CLIENT_INFO").count == 2 }
    for frame in try desk.frames("registerDevice") { #expect(frame["clientId"]?.stringValue == sent) }
    #expect(try desk.requests("/config").first?["headers"]?["X-Ext-Client-ID"]?.stringValue == sent)
    #expect(!JSONWriter.text(of: .array(try desk.vendor.log())).contains("alice@example.com"))
    #expect(try desk.externalId == "alice@example.com")
  }

  @Test("A key that is added later is used with the next authorization of the same user")
  func E2_aKeyThatIsAddedLater() throws {
    let key = try Desk().vendor.request("GET", "/_keys")["ed"]?["publicKey"] ?? .null
    let desk = try EdnaDesk()
    try desk.authorize("alice@example.com")
    try desk.call("instance.update", ["settings": ["identifier_public_key": key]])
    try desk.authorize("alice@example.com")
    #expect(try desk.vendorUser("alice@example.com")?["info"]?["clientIdIsEncrypted"] == true)
    #expect(try desk.call("getChat")["endpoint"]?["clientId"] != "alice@example.com")
    let count = try desk.vendor.log().count
    try desk.authorize("alice@example.com")
    #expect(try desk.vendor.log().count == count)
  }

  @Test("An identifier in other bytes is another user, even if it looks the same")
  func E5_anotherSpellingIsAnotherUser() throws {
    // In clear, a header can't carry such an identifier.
    let key = try Desk().vendor.request("GET", "/_keys")["ed"]?["publicKey"] ?? .null
    let desk = try EdnaDesk(settings: ["identifier_public_key": key])
    try desk.authorize("\u{E9}ric")
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.authorize("e\u{301}ric")
    #expect(try desk.externalId.map { Array($0.utf8) } == Array("e\u{301}ric".utf8))
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    #expect(try desk.events("identityWiped").count == 1)
  }

  @Test("An identifier that the app has encrypted is sent unchanged")
  func E2_anIdentifierThatTheAppHasEncryptedGoesAsItIs() throws {
    let keys = try Desk().vendor.request("GET", "/_keys")
    let ours = try EdnaDesk(settings: ["identifier_public_key": keys["ed"]?["publicKey"] ?? .null])
    try ours.authorize("u-1")
    let sent = try #require(try ours.call("getChat")["endpoint"]?["clientId"]?.stringValue)
    let desk = try EdnaDesk(settings: ["strict_identifiers": true])
    try desk.authorize(sent, auth: ["isEncrypted": true])
    #expect(try desk.vendorUser("u-1")?["encryptedClientId"]?.stringValue == sent)
    #expect(try desk.vendorUser("u-1")?["info"]?["clientIdIsEncrypted"] == true)
  }

  // MARK: E3

  @Test("Token and scheme are sent as headers")
  func E3_tokenAndSchemeTravelAsHeaders() throws {
    let desk = try EdnaDesk()
    try desk.token("t-alice", of: "u-1")
    try desk.authorize("u-1", auth: ["token": "t-alice", "scheme": "jwt"])
    let session = try desk.call("getChat")
    let address = try #require(session["endpoint"]?["deviceAddress"]?.stringValue)
    #expect(session["token"]?["token"] == "t-alice")
    #expect(session["token"]?["tokenType"] == "custom")
    #expect(
      session["token"]?["http"] == [
        "headers": [
          "Authorization": "t-alice", "X-Auth-Schema": "jwt", "X-Ext-Client-ID": "u-1", "X-Header-Encoding": "url",
          "X-Client-Token": .string("\(address)%3Au-1"),
        ], "cookies": [:],
      ])
    let headers = try #require(try desk.requests("/config").first?["headers"])
    #expect(headers["Authorization"] == "t-alice")
    #expect(headers["X-Auth-Schema"] == "jwt")
    #expect(headers["X-Ext-Client-ID"] == "u-1")
    #expect(headers["Cookie"] == nil)
    #expect(try desk.vendorUser("u-1")?["auth"] == ["method": "headers", "token": "t-alice", "scheme": "jwt"])
  }

  @Test("Token and scheme are sent as cookies if so configured, with a signature")
  func E3_orAsCookiesAndWithASignature() throws {
    let desk = try EdnaDesk()
    try desk.token("t-alice", of: "u-1")
    try desk.authorize(
      "u-1", auth: ["token": "t-alice", "scheme": "jwt", "method": "cookies", "signature": "s:1/ü"])
    let http = try #require(try desk.call("token.get", ["http": true])["http"])
    #expect(http["cookies"] == ["Authorization": "t-alice", "X-Auth-Schema": "jwt"])
    #expect(
      http["headers"] == [
        "X-Ext-Client-ID": "u-1", "X-Header-Encoding": "url", "X-Client-Token": "s%3A1%2F%C3%BC%3Au-1",
      ])
    let headers = try #require(try desk.requests("/config").first?["headers"])
    #expect(headers["Cookie"] == "Authorization=t-alice; X-Auth-Schema=jwt")
    #expect(headers["X-Client-Token"] == "s%3A1%2F%C3%BC%3Au-1")
    #expect(headers["Authorization"] == nil)
    #expect(try desk.vendorUser("u-1")?["auth"]?["method"] == "cookies")
  }

  @Test("Without a token, there is no cookie, and the client token is the credential")
  func E3_withoutATokenThereIsNoCookieAndTheClientTokenIsTheCredential() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1", auth: ["method": "cookies", "token": ""])
    let token = try desk.call("token.get", ["http": true])
    #expect(token["http"]?["cookies"] == [:])
    #expect(token["token"] == token["http"]?["headers"]?["X-Client-Token"])
    #expect(try desk.requests("/config").first?["headers"]?["Cookie"] == nil)
  }

  private static let unsendable: [JSON] = [
    ["token": "a\r\nX: b"], ["scheme": "a\nb"], ["signature": "a\rb"], ["token": "a;b", "method": "cookies"],
    ["token": "a", "scheme": "b; c", "method": "cookies"],
  ]

  @Test("A value that a header or cookie can't contain is refused without a request", arguments: unsendable)
  func E3_whatCanNotStandInAHeaderOrCookieIsRefusedWithoutARequest(auth: JSON) throws {
    let desk = try EdnaDesk()
    let refused = try desk.failure("authorize", EdnaDesk.user("u-1").merged(with: ["auth": auth]))
    #expect(refused.reason == "invalidAuthParameters")
    #expect(refused.code == -32020)
    #expect(try desk.vendor.log().isEmpty)
    let unknown = try desk.failure("authorize", EdnaDesk.user("u-1").merged(with: ["auth": ["method": "body"]]))
    #expect(unknown.code == -32602)
  }

  // MARK: E4

  @Test("The same user again keeps the state and causes no request")
  func E4_theSameUserAgainKeepsTheStateAndCostsNoRequest() throws {
    let desk = try EdnaDesk()
    let auth: JSON = ["token": "t", "scheme": "jwt"]
    try desk.authorize("u-1", auth: auth, user: ["name": "Alice"])
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    let before = try desk.vendor.log().count
    let operation = try desk.begin("u-1", auth: auth, user: ["name": "Alice"])
    #expect(try desk.outcome(of: operation)["type"] == "userLoggedIn")
    #expect(try desk.authorize("u-1", auth: auth)["externalId"] == "u-1")
    #expect(try desk.vendor.log().count == before)
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "mine")
    #expect(try desk.events("userLoggedOut").isEmpty)
  }

  @Test("A changed name or changed data is sent with the next chat")
  func E4_anotherNameOrOtherDataWaitForTheNextChat() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1", user: ["name": "Alice", "data": ["plan": "gold"]])
    let before = try desk.vendor.log().count
    let user = try desk.authorize("u-1", user: ["name": "Alice B.", "data": ["plan": "silver"]])
    #expect(user["name"] == "Alice B.")
    #expect(try desk.vendor.log().count == before)
    try desk.crash()
    try desk.waitUntilOnline("u-1")
    #expect(try desk.frames("INIT_CHAT").last?["content"]?["data"] == ["plan": "gold"])
    #expect(try desk.call("getChat")["data"] == ["plan": "silver"])
    let info = try #require(try desk.frames("CLIENT_INFO").last?["content"])
    #expect(info["name"] == "Alice B.")
    #expect(info["data"] == ["plan": "silver"])
  }

  @Test("Another auth replaces the credentials and keeps the identity")
  func E4_anotherAuthReplacesTheCredentialsAndKeepsTheIdentity() throws {
    let desk = try EdnaDesk()
    for token in ["t-1", "t-2"] { try desk.token(token, of: "u-1") }
    try desk.authorize("u-1", auth: ["token": "t-1"], user: ["data": ["plan": "gold"]])
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    try desk.authorize("u-1", auth: ["token": "t-2"])
    #expect(try desk.frames("registerDevice").count == 2)
    #expect(try desk.call("token.get")["token"] == "t-2")
    try desk.crash()
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "mine")
    let session = try desk.call("getChat")
    #expect(session["prefill"] == "Hello")
    #expect(session["data"] == ["plan": "gold"])
    #expect(session["token"]?["token"] == "t-2")
    #expect(try desk.events("identityWiped").isEmpty)
    // Credentials that the vendor refuses do not replace the present ones.
    let refused = try desk.failure(
      "authorize", EdnaDesk.user("u-1").merged(with: ["auth": ["token": "bad"], "wait": true]))
    #expect(refused.reason == "invalidAuth")
    #expect(try desk.call("token.get")["token"] == "t-2")
  }

  @Test(
    "After logout or deauthorizeUser, the next login runs the full configuration",
    arguments: ["logout", "deauthorizeUser"])
  func E4_afterLogoutOrDeauthorizeItIsAFullReconfiguration(method: String) throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.call(method, method == "logout" ? ["wait": true] : [:])
    try desk.authorize("u-1")
    #expect(try desk.requests("/config").count == 2)
    #expect(try desk.frames("CLIENT_INFO").count == 2)
  }

  // MARK: E5

  private func withPush(_ desk: EdnaDesk) throws -> String {
    try desk.authorize("u-1", user: ["data": ["plan": "gold"]])
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    let id = try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])["id"]
    return try #require(id?.stringValue)
  }

  @Test("Another user leaves session and push open at the vendor, and the former user's data is wiped here")
  func E5_anotherUserLeavesSessionAndPushOpenAtTheVendorAndIsWipedHere() throws {
    let desk = try EdnaDesk()
    let push = try withPush(desk)
    try desk.authorize("u-2")
    #expect(try desk.offline.isEmpty)
    let orphaned = try #require(try desk.events("pushOrphaned").first)
    #expect(orphaned["data"]?["id"]?.stringValue == push)
    #expect(try desk.events("userLoggedOut").first?["data"]?["cause"] == "switch")
    try desk.crash()
    let listed = try #require(try desk.call("push.list")["pushes"]?.arrayValue?.first)
    #expect(listed["orphaned"] == true)
    let session = try desk.call("getChat")
    #expect(session["user"]?["externalId"] == "u-2")
    #expect(session["prefill"] == nil)
    #expect(session["data"] == nil)
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    let devices = try desk.vendorState["devices"]?.arrayValue ?? []
    #expect(devices.first { $0["clientId"] == "u-1" }?["pnsPushAddress"] == "push-address-1")
    // An orphaned push registration belongs to its user again at their next login.
    try desk.authorize("u-1")
    let again = try desk.call("push.list")["pushes"]?.arrayValue ?? []
    #expect(again.map { $0["id"]?.stringValue } == [push])
    #expect(again.first?["orphaned"] == false)
    #expect(try desk.events("pushUnregistered").isEmpty)
  }

  @Test("An orphaned push registration is removed without a request to the vendor")
  func E5_anOrphanedRecordIsForgottenWithoutTellingTheVendor() throws {
    let desk = try EdnaDesk()
    let push = try withPush(desk)
    try desk.authorize("u-2")
    let before = try desk.frames("updateDevice").count
    try desk.call("push.unregister", ["id": .string(push)])
    #expect(try desk.call("push.list")["pushes"] == [])
    #expect(try desk.frames("updateDevice").count == before)
  }

  @Test("With on_switch = logout, the former user is logged out first")
  func E5_onSwitchLogoutLogsTheFormerUserOutFirst() throws {
    let desk = try EdnaDesk(settings: ["on_switch": "logout"])
    _ = try withPush(desk)
    try desk.authorize("u-2")
    #expect(try desk.offline == ["u-1"])
    #expect(try desk.events("pushOrphaned").isEmpty)
    #expect(try desk.events("pushUnregistered").count == 1)
    let arrivals = try desk.arrivals()
    let logout = try #require(arrivals.firstIndex(of: "CLIENT_OFFLINE"))
    #expect(arrivals.lastIndex(of: "chat/config").map { $0 > logout } == true)
    // A former user who can't be logged out stays signed in, and the logout is not retried later.
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["close": true])
    let failed = try desk.outcome(of: try desk.begin("u-3"))
    #expect(failed["type"] == "networkError")
    #expect(try desk.externalId == "u-2")
    #expect(try desk.call("instance.get")["pending"] == nil)
  }
}
