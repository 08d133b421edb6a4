import Foundation
import JSONRPC
import Testing

/// The scripted failures for Messaging: each leaves user and identity as its row says, also after a restart.
@Suite struct MessagingFailureRowTests {
  private static let user: JSONObject = ["route": "GET /v2/apps/*/appusers/*"]
  private static let login: JSONObject = ["route": "POST /v2/apps/*/login"]
  private static let logout: JSONObject = ["route": "POST /v2/apps/*/appusers/*/logout"]
  private static let creation: JSONObject = ["route": "POST /v2/apps/*/appusers"]

  /// Failures of the vendor that neither accept nor refuse the user.
  private static let outages: [(script: JSONObject, reason: String)] = [
    (["status": 429], "rateLimited"), (["status": 500], "serverError"), (["hang": true], "timeout"),
    (["status": 500, "body": "<html>out of order</html>", "contentType": "text/html"], "serverError"),
    (["closeMidBody": true], "network"), (["status": 418, "body": "7"], "badResponse"),
  ]

  private func script(_ desk: Desk, _ route: JSONObject, _ script: JSONObject, times: JSON = 1) throws {
    try desk.vendor.script(.object(route.merged(with: script).merged(with: ["times": times])))
  }

  /// Opens a desk without realtime, so that the vendor gets only the requests of the test.
  private func open(provider: Bool = true, timeout: JSON = "1s") throws -> (Desk, Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["realtime": "off", "timeout": timeout],
      provider: provider ? try desk.countingProvider() : nil)
    return (desk, line)
  }

  // MARK: A token from before the restart, which the first session shows to the vendor

  @Test("A token that is refused once is renewed, and the session opens")
  func M6_aTokenThatIsRefusedOnceIsRenewedAndTheSessionOpens() throws {
    let (desk, line) = try open()
    let first = try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    try script(desk, Self.user, ["status": 401])
    let session = try next.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == true)
    #expect(session["token"]?["token"] != .string(first))
    #expect(desk.runs("desk") == 1)
    let types = try desk.eventTypes(on: next)
    #expect(types.contains("tokenRefreshed"))
    #expect(!types.contains("authenticationFailed"))
    try desk.crash()
    #expect(
      try desk.connect().call("token.get", ["instance": "desk"])["token"] == session["token"]?["token"])
  }

  @Test("Twenty sessions with a refused token share one provider run, and all get the new token")
  func M6_twentySessionsOverARefusedTokenMakeOneProviderRunAndNobodyGetsTheToken() throws {
    let (desk, line) = try open()
    let first = try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    try desk.vendor.revoke("alice")
    try script(desk, Self.user, ["passThrough": true, "delayMs": 300])
    let ids = (0..<20).map { _ in next.begin("session.open", ["instance": "desk"]) }
    let tokens = try Set(ids.map { try next.answer($0)["result"]?["token"]?["token"]?.stringValue ?? "none" })
    #expect(tokens.count == 1)
    #expect(!tokens.contains(first))
    #expect(!tokens.contains("none"))
    #expect(desk.runs("desk") == 1)
    #expect(try desk.events("desk", on: next, "tokenRefreshed").count == 1)
    #expect(try desk.vendor.log().compactMap { $0["status"]?.intValue } == [200, 401, 200])
  }

  @Test("A user whose tokens are always refused is logged out implicitly")
  func M4_tokensThatAreRefusedForEverLogOutImplicitly() throws {
    let (desk, line) = try open()
    try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    try script(desk, Self.user, ["status": 401], times: "forever")
    #expect(try next.failure("session.open", ["instance": "desk"]).reason == "invalidAuth")
    #expect(desk.runs("desk") == 3)
    #expect(try desk.state(on: next) == "loggedOut")
    #expect(try desk.events("desk", on: next, "userLoggedOut").last?["data"]?["cause"] == "implicit")
    #expect(try desk.events("desk", on: next, "authenticationFailed").count == 1)
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test("Without a delegate, a refused token makes the session invisible")
  func M7_aTokenThatIsRefusedWithoutADelegateShowsNothing() throws {
    let (desk, line) = try open(provider: false)
    try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    try desk.vendor.revoke("alice")
    let session = try next.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "reauthNeeded")
    #expect(session["user"]?["externalId"] == "alice")
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "reauthNeeded")
  }

  @Test("An outage keeps the user and does not run the provider", arguments: outages)
  func M6_anOutageAsksNobodyAndKeepsTheUser(outage: JSONObject, reason: String) throws {
    let (desk, line) = try open()
    let token = try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    try script(desk, Self.user, outage)
    let session = try next.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == true)
    #expect(session["token"]?["token"] == .string(token))
    #expect(desk.runs("desk") == 0)
    let told = try desk.events("desk", on: next, "networkError")
    #expect(told.compactMap { $0["data"]?["reason"]?.stringValue } == [reason])
    #expect(try desk.state(on: next) == "authenticated")
    try desk.vendor.clearScripts()
  }

  @Test("A session that gets one 403 opens after a silent login")
  func M6_aSessionThatIsForbiddenOnceIsAuthenticatedSilently() throws {
    let (desk, line) = try open()
    let token = try desk.logIn(on: line)
    try desk.crash()
    let next = try desk.connect()
    try script(desk, Self.user, ["status": 403])
    #expect(try next.call("session.open", ["instance": "desk"])["token"]?["token"] == .string(token))
    #expect(try desk.vendor.log().compactMap { $0["status"]?.intValue } == [200, 403, 200, 200])
    #expect(desk.runs("desk") == 0)
    #expect(!(try desk.eventTypes(on: next)).contains("authenticationFailed"))
  }

  // MARK: Logins

  @Test("A login that fails because of an outage keeps the current user", arguments: outages)
  func M2_aLoginThatMeetsAnOutageKeepsTheUser(outage: JSONObject, reason: String) throws {
    let (desk, line) = try open()
    let token = try desk.logIn(on: line)
    try script(desk, Self.login, outage)
    let error = try line.failure(
      "messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(error.reason == reason)
    // A teapot stays one.
    #expect(error.isRetryable == (outage["status"] != 418))
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(token))
    #expect(desk.runs("desk") == 0)
    #expect(!(try desk.eventTypes(on: next)).contains("authenticationFailed"))
    try desk.vendor.clearScripts()
  }

  @Test(
    "A refused login keeps the current user and does not run the provider",
    arguments: [(401, "invalidAuth"), (403, "forbidden"), (404, "notFound")])
  func M2_aLoginThatIsRefusedKeepsTheUserAndAsksNobody(status: Int, reason: String) throws {
    let (desk, line) = try open()
    let token = try desk.logIn(on: line)
    try script(desk, Self.login, ["status": JSON(status)])
    let error = try line.failure(
      "messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(error.code == -32021)
    #expect(error.reason == reason)
    #expect(error.data["httpStatus"] == JSON(status))
    #expect(try desk.events("desk", on: line, "authenticationFailed").count == 1)
    #expect(desk.runs("desk") == 0)
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == .string(token))
  }

  @Test("A token that expires while the login is in flight is reported as expired")
  func M5_aTokenThatEndsInFlightIsSaidToHaveExpired() throws {
    let (desk, line) = try open(timeout: "20s")
    try script(desk, Self.login, ["passThrough": true, "delayMs": JSON(Vendor.shortLife * 1000 + 500)])
    let jwt: JSON = .string(try Vendor.mint("alice", ttl: Vendor.shortLife))
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": jwt])
    #expect(error.code == -32021)
    #expect(error.reason == "expiredJWT")
    #expect(error.message.hasPrefix("The JWT has expired"))
    #expect(error.data["vendorCode"] == "invalid_auth")
    #expect(desk.runs("desk") == 0)
    #expect(try desk.state(on: line) == "noUser")
  }

  @Test("A token that expires while the vendor does not respond is reported as expired")
  func M5_aTokenThatEndsWhileTheVendorIsSilentIsSaidToHaveExpired() throws {
    let (desk, line) = try open(timeout: .string("\(Vendor.shortLife + 1)s"))
    try script(desk, Self.login, ["hang": true])
    let jwt: JSON = .string(try Vendor.mint("alice", ttl: Vendor.shortLife))
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": jwt])
    #expect(error.code == -32021)
    #expect(error.reason == "expiredJWT")
    #expect(error.message.hasPrefix("The JWT has expired"))
    try desk.vendor.clearScripts()
  }

  @Test("A login succeeds if the vendor's response is empty")
  func M1_aLoginWithAnEmptyAnswerIsALogin() throws {
    let (desk, line) = try open()
    try script(desk, Self.login, ["status": 200, "body": ""])
    let token = try desk.logIn(on: line)
    let user = try desk.user(on: line)
    #expect(user["externalId"] == "alice")
    #expect(user["authenticated"] == true)
    #expect(user["id"] == nil)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("session.open", ["instance": "desk"])["token"]?["token"] == .string(token))
    // The vendor has not created a user yet, so there is no session to end.
    #expect(try next.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == false)
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    #expect(try desk.state(on: next) == "loggedOut")
  }

  // MARK: Anonymous users

  @Test(
    "If an anonymous user can't be created, the session fails, and the next session tries again",
    arguments: outages + [(["body": ""], "badResponse"), (["body": ["appUser": ["_id": "x"]]], "badResponse")])
  func M2_anAnonymousUserWhoCannotBeMadeIsAnErrorAndTriedAgain(outage: JSONObject, reason: String) throws {
    let (desk, line) = try open()
    try script(desk, Self.creation, outage)
    #expect(try line.failure("session.open", ["instance": "desk"]).reason == reason)
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.state(on: next) == "noUser")
    try desk.vendor.clearScripts()
    #expect(try next.call("session.open", ["instance": "desk"])["visible"] == true)
    #expect(try desk.state(on: next) == "anonymous")
  }

  // MARK: Logouts

  @Test("A logout that fails because of an outage keeps everything", arguments: outages)
  func M3_aLogoutThatMeetsAnOutageKeepsEverything(outage: JSONObject, reason: String) throws {
    let (desk, line) = try open()
    let token = try desk.logIn(on: line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try script(desk, Self.logout, outage)
    #expect(try line.failure("messaging.logoutUser", ["instance": "desk"]).reason == reason)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(token))
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(desk.runs("desk") == 0)
    try desk.vendor.clearScripts()
    #expect(try next.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == true)
  }

  @Test(
    "A logout succeeds if the vendor's response is empty, HTML or a 403",
    arguments: [(["body": ""], true), (["body": "<html>", "contentType": "text/html"], true), (["status": 403], true)]
      as [(JSONObject, Bool)])
  func M3_aLogoutNeedsNoUsefulAnswer(answer: JSONObject, informed: Bool) throws {
    let (desk, line) = try open()
    try desk.logIn(on: line)
    try script(desk, Self.logout, answer)
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == .bool(informed))
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }
}
