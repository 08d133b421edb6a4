import Foundation
import JSONRPC
import Testing

/// The rows C1 to C9 of the design's table for Chat, through the socket, the daemon, real HTTP and WebSockets.
@Suite struct ChatRowTests {
  // MARK: C1

  @Test("An identity is exchanged when a session opens, and not before")
  func C1_anIdentityIsExchangedWhenASessionOpensAndNotBefore() throws {
    let chat = try Chat()
    let jwt = try Chat.mint("alice", ttl: 300, ["--name", "Alice"])
    try chat.setIdentity(jwt)
    #expect(try chat.desk.vendor.log().isEmpty)
    #expect(try chat.instance()["state"] == "anonymous")
    #expect(try chat.types("identityChanged", "userLoggedIn") == ["identityChanged"])
    let session = try chat.open()
    #expect(session["visible"] == true)
    #expect(session["user"]?["externalId"] == "alice")
    #expect(session["user"]?["name"] == "Alice")
    #expect(session["user"]?["authenticationType"] == "jwt")
    #expect(session["user"]?["authenticated"] == true)
    #expect(session["token"]?["tokenType"] == "idToken")
    let machine = session["endpoint"]?["machineId"]
    #expect(machine?.stringValue?.isEmpty == false)
    #expect(session["token"]?["http"]?["headers"]?["X-Zopim-MID"] == machine)
    #expect(try chat.exchanges() == [["account_key": Chat.account, "token": jwt]])
    #expect(try chat.open()["token"]?["token"] == session["token"]?["token"])
    #expect(try chat.exchanges().count == 1)
    #expect(try chat.types("userLoggedIn", "authenticationFailed") == ["userLoggedIn"])
    let next = try chat.crashed()
    let after = try next.open()
    #expect(after["token"]?["token"] == session["token"]?["token"])
    #expect(after["endpoint"]?["machineId"] == machine)
    #expect(try next.exchanges().count == 1)
    let told = JSONWriter.text(of: .array(try next.events())) + chat.desk.logs
    for secret in [jwt, session["token"]?["token"]?.stringValue ?? jwt] { #expect(!told.contains(secret)) }
  }

  @Test("The instance says that its visitor signs in on use, until the vendor was asked")
  func C1_theInstanceSaysThatTheVisitorSignsInOnUse() throws {
    let chat = try Chat()
    #expect(try chat.instance()["signIn"] == nil)
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.instance()["signIn"] == "onUse")
    // The JWT is lost with the daemon, and nobody supplies another: the visitor is anonymous from the first session on.
    let next = try chat.crashed()
    #expect(try next.instance()["signIn"] == "onUse")
    _ = try next.open()
    #expect(try next.instance()["signIn"] == nil)
    try next.setIdentity(try Chat.mint())
    #expect(try next.instance()["signIn"] == "onUse")
    _ = try next.open()
    let signedIn = try next.instance()
    #expect(signedIn["state"] == "authenticated" && signedIn["signIn"] == nil)
    try next.line.call("chat.resetIdentity", ["instance": "desk"])
    #expect(try next.instance()["signIn"] == nil)
  }

  @Test("The provider is asked again when the id token has expired")
  func C1_theOwnerIsAskedAgainWhenTheIdTokenHasEnded() throws {
    let chat = try Chat { try Chat.minting($0) }
    try chat.options(["expiresIn": 2])
    try chat.setIdentity()
    #expect(chat.asked().isEmpty)
    let first = try chat.token()
    #expect(chat.asked().map { $0["question"] } == ["getToken"])
    #expect(chat.asked().first?["user"]?["externalId"] == nil)
    try chat.waitForTheEnd()
    let next = try chat.crashed()
    let second = try next.token()
    #expect(second["token"] != first["token"])
    #expect(chat.asked().map { $0["question"] } == ["getToken", "invalidAuth"])
    #expect(chat.asked().last?["user"]?["externalId"] == "alice")
    // The second exchange sends the state that the vendor returned from the first, with or without a restart in
    // between.
    let visitor = try chat.desk.vendor.request("GET", "/_state")["zc"]?["visitors"]?.arrayValue?.first
    #expect(visitor?["newestStates"] == 1)
    #expect(try chat.exchanges().map { $0["state"] != nil } == [false, true])
    #expect(try next.types("tokenRefreshed", "authenticationFailed") == ["tokenRefreshed"])
  }

  @Test("A token from the app is used once; then the provider is asked")
  func C1_aTokenGivenIsUsedOnceAndThenTheOwnerIsTheAuthenticator() throws {
    let chat = try Chat { try Chat.minting($0) }
    try chat.options(["expiresIn": 1])
    let jwt = try Chat.mint()
    try chat.setIdentity(jwt)
    _ = try chat.open()
    #expect(chat.asked().isEmpty)
    try chat.waitForTheEnd()
    _ = try chat.open()
    #expect(chat.asked().count == 1)
    #expect(try chat.exchanges().map { $0["token"] == jwt } == [true, false])
  }

  @Test("A token from the app is not kept across a restart, and the provider is asked")
  func C1_aTokenGivenIsGoneAfterARestartAndTheOwnerIsAsked() throws {
    let chat = try Chat { try Chat.minting($0) }
    let jwt = try Chat.mint()
    try chat.setIdentity(jwt)
    let next = try chat.crashed()
    #expect(try next.open()["user"]?["externalId"] == "alice")
    #expect(try next.exchanges().map { $0["token"] == jwt } == [false])
    let alone = try Chat()
    try alone.setIdentity(jwt)
    let session = try alone.crashed().open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(try alone.exchanges().isEmpty)
  }

  @Test("Twenty concurrent sessions share one exchange")
  func C1_manyOpensMakeOneExchange() throws {
    let chat = try Chat { try Chat.minting($0) }
    try chat.setIdentity()
    try chat.script(["passThrough": true, "delayMs": 200])
    let ids = (0..<20).map { _ in chat.line.begin("session.open", ["instance": "desk"]) }
    let tokens = try Set(ids.map { try chat.line.answer($0)["result"]?["token"]?["token"]?.stringValue ?? "none" })
    #expect(tokens.count == 1)
    #expect(chat.asked().count == 1)
    #expect(try chat.exchanges().count == 1)
  }

  // MARK: C2

  @Test("A refused token causes the fallback to an anonymous visitor, which is reported")
  func C2_aRefusedTokenFallsBackToAnAnonymousVisitorAndSaysSo() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint("alice", ttl: 300, ["--secret", Chat.forged]))
    let session = try chat.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(session["user"]?["authenticationType"] == "unauthenticated")
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
    #expect(
      try chat.types("authenticationFailed", "fellBackToAnonymous") == ["authenticationFailed", "fellBackToAnonymous"])
    let failure = try chat.events("authenticationFailed").last?["data"]
    #expect(failure?["reason"] == "invalidAccessToken")
    #expect(failure?["vendorCode"] == "failed to validate token")
    #expect(failure?["vendorDescription"] == "signature is invalid")
    #expect(failure?["httpStatus"] == 400)
    let hints = failure?["hints"]?.arrayValue?.compactMap(\.stringValue) ?? []
    #expect(hints.contains { $0.contains("5 minutes") })
    #expect(try chat.events("fellBackToAnonymous").last?["data"]?["reason"] == "invalidAccessToken")
    let next = try chat.crashed()
    #expect(try next.instance()["degraded"] == "anonymousFallback")
    #expect(try next.open()["endpoint"]?["machineId"] == session["endpoint"]?["machineId"])
    try next.setIdentity(try Chat.mint())
    #expect(try next.instance()["degraded"] == "anonymousFallback")
    #expect(try next.open()["user"]?["externalId"] == "alice")
    #expect(try next.instance()["degraded"] == nil)
  }

  @Test("Each session tries again, and each failure is reported")
  func C2_eachOpenTriesAgainAndEachFailureIsTold() throws {
    let chat = try Chat(settings: ["refresh": ["max_attempts": 1]]) {
      try Chat.minting($0, "alice", "--secret \(Chat.forged)")
    }
    try chat.setIdentity()
    for count in 1...3 {
      #expect(try chat.open()["token"] == nil)
      #expect(try chat.exchanges().count == count)
      #expect(try chat.events("authenticationFailed").count == count)
      #expect(try chat.events("fellBackToAnonymous").count == count)
    }
    try chat.desk.vendor.request(
      "POST", "/_keys", ["sdk": "zc", "kid": .string(Chat.account), "secret": .string(Chat.forged)])
    #expect(try chat.open()["user"]?["externalId"] == "alice")
    #expect(try chat.instance()["degraded"] == nil)
  }

  @Test("A failing provider causes the fallback, and an open breaker reports no further failure")
  func C2_aFailingProviderFallsBackAndTheBreakerHoldsBackInSilence() throws {
    let chat = try Chat { try $0.provider("echo run >> \($0.folder.path)/runs; exit 3") }
    try chat.setIdentity()
    for _ in 0..<4 { #expect(try chat.open()["visible"] == true) }
    let runs = try String(contentsOf: chat.desk.folder.appendingPathComponent("runs"), encoding: .utf8).count / 4
    #expect(try chat.events("authenticationFailed").count == runs)
    #expect(try chat.events("fellBackToAnonymous").count == runs)
    #expect(runs < 4)
    #expect(try chat.events("fellBackToAnonymous").first?["data"]?["reason"] == "providerFailed")
    #expect(try chat.exchanges().isEmpty)
  }

  @Test(
    "A provider that denies or returns invalid output causes the fallback",
    arguments: [("exit 77", "providerDenied"), ("echo garbage", "providerOutputInvalid")])
  func C2_anOwnerWhoDoesNotSupplyFallsBack(script: String, reason: String) throws {
    let chat = try Chat { try $0.provider(script) }
    try chat.setIdentity()
    #expect(try chat.open()["visible"] == true)
    #expect(try chat.events("authenticationFailed").last?["data"]?["reason"]?.stringValue == reason)
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
    #expect(try chat.exchanges().isEmpty)
  }

  @Test("A missing provider causes the fallback, which is reported too")
  func C2_thatNobodyIsThereToAuthenticateIsToldToo() throws {
    let chat = try Chat()
    try chat.setIdentity()
    for _ in 0..<2 { #expect(try chat.open()["visible"] == true) }
    #expect(try chat.events("fellBackToAnonymous").map { $0["data"]?["reason"] } == ["noProvider"])
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
  }

  @Test("An identity that is set again after the fallback is tried, and its failure is reported again")
  func C2_secondFallback() throws {
    let chat = try Chat()
    for count in 1...3 {
      try chat.setIdentity()
      for _ in 0..<2 { #expect(try chat.open()["visible"] == true) }
      #expect(try chat.events("fellBackToAnonymous").count == count)
      #expect(try chat.events("authenticationFailed").count == count)
    }
  }

  @Test("An id token that expires without a replacement causes the fallback")
  func C2_anIdTokenThatEndsWithoutASuccessorFallsBack() throws {
    let chat = try Chat()
    try chat.options(["expiresIn": 1])
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.waitForTheEnd()
    let session = try chat.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(session["user"]?["externalId"] == nil)
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
    #expect(try chat.events("fellBackToAnonymous").count == 1)
  }

  @Test("A token of another visitor from the provider causes the fallback")
  func C2_aTokenOfAnotherVisitorFromTheOwnerFallsBack() throws {
    let chat = try Chat { try Chat.minting($0, "bob") }
    try chat.options(["expiresIn": 1])
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.waitForTheEnd()
    #expect(try chat.open()["user"]?["externalId"] == nil)
    let failure = try chat.events("authenticationFailed").last?["data"]
    #expect(failure?["reason"] == "expiredJWT")
    #expect(failure?["hints"]?.arrayValue?.last?.stringValue?.contains("providerTokenForOtherUser") == true)
    #expect(try chat.exchanges().count == 1)
  }

  private static let outages: [(script: JSONObject, reason: String)] = [
    (["status": 503, "body": "down"], "serverError"), (["status": 429, "body": ""], "rateLimited"),
    (["status": 200, "body": "<html>", "contentType": "text/html"], "badResponse"),
    (["status": 302, "body": "", "headers": ["Location": "http://127.0.0.1:1/"]], "badResponse"),
    (["closeMidBody": true], "network"), (["hang": true], "timeout"),
  ]

  @Test("An outage causes the fallback without a provider run, and the token stays usable", arguments: outages)
  func C2_anOutageFallsBackWithoutAskingAnybodyAndTheTokenStaysGood(script: JSONObject, reason: String) throws {
    let chat = try Chat(settings: ["timeout": "1s"]) { try Chat.minting($0) }
    try chat.setIdentity(try Chat.mint())
    try chat.script(script)
    let session = try chat.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(try chat.events("fellBackToAnonymous").last?["data"]?["reason"]?.stringValue == reason)
    try chat.desk.vendor.clearScripts()
    #expect(try chat.open()["user"]?["externalId"] == "alice")
    #expect(chat.asked().isEmpty)
    #expect(try chat.instance()["degraded"] == nil)
  }

  @Test("With fallback = fail, the session fails instead of opening anonymously")
  func C2_failGivesTheErrorInsteadOfAnAnonymousVisitor() throws {
    let chat = try Chat(settings: ["fallback": "fail"])
    #expect(try chat.open()["visible"] == true)
    try chat.setIdentity(try Chat.mint("alice", ttl: 300, ["--secret", Chat.forged]))
    let error = try chat.line.failure("session.open", ["instance": "desk"])
    #expect(error.code == -32021)
    #expect(error.reason == "invalidAccessToken")
    #expect(error.data["vendorCode"] == "failed to validate token")
    #expect(try chat.types("authenticationFailed", "fellBackToAnonymous") == ["authenticationFailed"])
    #expect(try chat.instance()["degraded"] == nil)
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.open()["user"]?["externalId"] == "alice")
  }

  @Test("With fallback = fail, a visitor is kept after the id token has expired")
  func C2_failKeepsTheVisitorWhoseIdTokenHasEnded() throws {
    let chat = try Chat(settings: ["fallback": "fail"])
    try chat.options(["expiresIn": 1])
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.waitForTheEnd()
    let session = try chat.open()
    #expect(session["visible"] == false)
    #expect(session["reason"] == "reauthNeeded")
    let next = try chat.crashed()
    #expect(try next.instance()["state"] == "reauthNeeded")
    #expect(try next.instance()["user"]?["externalId"] == "alice")
    #expect(try next.events("fellBackToAnonymous").isEmpty)
    try next.setIdentity(try Chat.mint())
    #expect(try next.open()["user"]?["authenticated"] == true)
  }

  // MARK: C3

  private static let mistakes: [(more: [String], ttl: Int, reason: String)] = [
    (["--name", ""], 300, "invalidName"), (["--email", ""], 300, "invalidEmail"),
    (["--email", "nowhere"], 300, "invalidEmail"), ([], 421, "invalidAccessToken"), ([], -5, "tokenHasExpired"),
    (["--issued-at", "1000000000"], 300, "tokenHasExpired"),
    (["--issued-at", "4000000000"], 300, "invalidAccessToken"),
  ]

  @Test("A token with an invalid claim is refused without a request", arguments: mistakes)
  func C3_aClaimThatCannotBeRightCostsNoRequest(more: [String], ttl: Int, reason: String) throws {
    let chat = try Chat()
    let jwt = try Chat.mint("alice", ttl: ttl, more)
    let error = try chat.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(jwt)])
    #expect(error.code == -32020)
    #expect(error.reason == reason)
    #expect(!error.message.contains(jwt))
    #expect(try chat.events("authenticationFailed").map { $0["data"]?["reason"]?.stringValue } == [reason])
    #expect(try chat.open()["token"] == nil)
    #expect(try chat.desk.vendor.log().isEmpty)
  }

  @Test(
    "Text that is not a signed token is refused without a request",
    arguments: ["", "garbage", "a.b.c", "eyJhbGciOiJub25lIn0.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0."])
  func C3_whatIsNoSignedTokenCostsNoRequest(text: String) throws {
    let chat = try Chat()
    let error = try chat.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(text)])
    #expect(error.code == -32020)
    #expect(error.reason == "invalidAccessToken")
    #expect(try chat.instance()["state"] == "noUser")
    #expect(try chat.desk.vendor.log().isEmpty)
  }

  @Test("An invalid claim in a token from the provider is named without a request")
  func C3_aMistakeOfTheOwnersIsToldInTheSameWordsAndCostsNoRequest() throws {
    let chat = try Chat { try Chat.minting($0, "alice", "--email nowhere") }
    try chat.setIdentity()
    let error = try chat.line.failure("token.get", ["instance": "desk"])
    #expect(error.reason == "providerOutputInvalid")
    #expect(error.message.contains("email"))
    #expect(try chat.events("fellBackToAnonymous").last?["data"]?["reason"] == "providerOutputInvalid")
    #expect(try chat.exchanges().isEmpty)
  }

  @Test("The greatest length of the external id is a setting")
  func C3_theExternalIdHasALengthThatIsASetting() throws {
    let long = String(repeating: "x", count: 201)
    let chat = try Chat()
    let jwt = try Chat.mint(long, ttl: 300, ["--email", "a@b.test"])
    let error = try chat.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(jwt)])
    #expect(error.reason == "invalidAccessToken")
    #expect(try chat.desk.vendor.log().isEmpty)
    try chat.line.call("instance.update", ["instance": "desk", "settings": ["external_id_max": 255]])
    try chat.options(["externalIdMax": 255])
    try chat.setIdentity(jwt)
    #expect(try chat.open()["user"]?["externalId"]?.stringValue == long)
  }

  @Test("A token without an expiry is valid for seven minutes")
  func C3_withoutAnEndATokenLivesSevenMinutes() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint("alice", ttl: nil))
    #expect(try chat.open()["user"]?["externalId"] == "alice")
    let old = try Chat.mint("alice", ttl: nil, ["--issued-at", String(Int(Date().timeIntervalSince1970) - 430)])
    let error = try chat.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(old)])
    #expect(error.reason == "tokenHasExpired")
  }

  private static let clocks: [(offset: Int, reason: String?, words: String?)] = [
    (-100, nil, nil), (-200, "invalidAccessToken", "iat is in the future"),
    (400, "tokenHasExpired", "jwt token has expired"),
  ]

  @Test("The vendor's clock may differ by two minutes", arguments: clocks)
  func C3_theVendorsClockMayDifferByTwoMinutes(offset: Int, reason: String?, words: String?) throws {
    let chat = try Chat()
    try chat.desk.vendor.request("POST", "/_clock", ["offsetSeconds": JSON(offset)])
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.open()["user"]?["externalId"]?.stringValue == (reason == nil ? "alice" : nil))
    let failure = try chat.events("authenticationFailed").last?["data"]
    #expect(failure?["reason"]?.stringValue == reason)
    #expect(failure?["vendorDescription"]?.stringValue == words)
  }

  @Test("A token that expires before it is used is not sent")
  func C3_aTokenThatEndsBeforeItsUseIsNotSent() throws {
    let chat = try Chat { try Chat.minting($0) }
    try chat.setIdentity(try Chat.mint("alice", ttl: Vendor.shortLife))
    let end = Date().addingTimeInterval(Double(Vendor.shortLife))
    try eventually("the JWT has ended") { Date() > end }
    #expect(try chat.open()["user"]?["externalId"] == "alice")
    #expect(chat.asked().map { $0["error"]?["reason"] } == ["tokenHasExpired"])
    #expect(try chat.exchanges().count == 1)
  }

  // MARK: C4

  private static let errors: [(error: String, details: String?, reason: String, code: Int)] = [
    ("account key not found", nil, "invalidAccountKey", -32021), ("token not found", nil, "invalidAccessToken", -32021),
    ("failed to validate claims", "email is invalid", "invalidEmail", -32021),
    ("failed to validate claims", "name should be set", "invalidName", -32021),
    ("error fetching shared secret", nil, "invalidSharedSecret", -32021),
    ("failed to validate claims", "jwt token has expired", "tokenHasExpired", -32021),
    ("external ID has changed", nil, "externalUserIdHasChanged", -32021),
    ("internal server error", nil, "serverError", -32030),
    ("failed to validate claims", "something else", "invalidAccessToken", -32021),
    ("nobody has seen this before", nil, "invalidAccessToken", -32021),
  ]

  @Test("Each error of the vendor has its reason", arguments: errors, [200, 400])
  func C4_eachErrorOfTheVendorsHasItsReason(
    row: (error: String, details: String?, reason: String, code: Int), status: Int
  ) throws {
    let chat = try Chat(settings: ["refresh": ["max_attempts": 1]])
    try chat.setIdentity(try Chat.mint())
    var body: JSONObject = ["success": false, "error": .string(row.error)]
    body["details"] = row.details.map(JSON.string)
    try chat.script(["status": JSON(status), "body": .object(body)])
    let error = try chat.line.failure("token.get", ["instance": "desk"])
    #expect(error.code == row.code)
    #expect(error.reason == row.reason)
    #expect(error.data["httpStatus"] == JSON(status))
    #expect(error.data["vendorCode"]?.stringValue == row.error)
    #expect(error.data["vendorDescription"]?.stringValue == row.details)
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
    let next = try chat.crashed()
    #expect(try next.instance()["state"] == "anonymous")
    #expect(try next.open()["visible"] == true)
  }

  @Test("An unknown account, a missing secret and a server error have their reasons")
  func C4_whatTheVendorItselfRefuses() throws {
    let chat = try Chat(settings: ["account_key": "no-such-account"])
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "invalidAccountKey")
    let bare = try Chat(settings: ["account_key": "sandboxChatAccountKey000000000002"])
    try bare.setIdentity(try Chat.mint())
    let error = try bare.line.failure("token.get", ["instance": "desk"])
    #expect(error.reason == "invalidSharedSecret")
    #expect(error.data["hints"]?.arrayValue?.isEmpty == false)
    try bare.setIdentity(try Chat.mint())
    try bare.script(["status": 500])
    #expect(try bare.line.failure("token.get", ["instance": "desk"]).reason == "serverError")
  }

  @Test("Another token is requested only if it could help")
  func C4_onlyWhatAnotherTokenCouldMendAsksForOne() throws {
    let chat = try Chat(settings: ["account_key": "no-such-account"]) { try Chat.minting($0) }
    try chat.setIdentity()
    #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "invalidAccountKey")
    #expect(chat.asked().count == 1)
    let other = try Chat { try Chat.minting($0) }
    try other.setIdentity(try Chat.mint("alice", ttl: 300, ["--secret", Chat.forged]))
    #expect(try other.open()["user"]?["externalId"] == "alice")
    #expect(other.asked().map { $0["question"] } == ["invalidAuth"])
    #expect(other.asked().first?["error"]?["description"] == "signature is invalid")
    #expect(try other.events("authenticationFailed").isEmpty)
  }

  // MARK: C5

  @Test("The external id can't change without a reset")
  func C5_theExternalIdCannotChangeWithoutAReset() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint())
    let token = try chat.open()["token"]?["token"]
    let bob = try Chat.mint("bob")
    let error = try chat.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(bob)])
    #expect(error.code == -32021)
    #expect(error.reason == "externalUserIdHasChanged")
    #expect(try chat.events("authenticationFailed").last?["data"]?["reason"] == "externalUserIdHasChanged")
    #expect(try chat.open()["token"]?["token"] == token)
    #expect(try chat.exchanges().count == 1)
    let next = try chat.crashed()
    #expect(
      try next.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(bob)]).reason
        == "externalUserIdHasChanged")
    try next.line.call("chat.resetIdentity", ["instance": "desk"])
    try next.setIdentity(bob)
    #expect(try next.open()["user"]?["externalId"] == "bob")
    #expect(try next.exchanges().last?["state"] == nil)
  }

  @Test("An external id in other bytes is another visitor's, even if it looks the same")
  func C5_anotherSpellingIsAnotherVisitor() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint("\u{E9}ric"))
    _ = try chat.open()
    let other = try Chat.mint("e\u{301}ric")
    #expect(
      try chat.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(other)]).reason
        == "externalUserIdHasChanged")
  }

  @Test("After the fallback, the external id still can't change")
  func C5_aVisitorWhoHasFallenBackIsStillTheSameVisitor() throws {
    let chat = try Chat()
    try chat.options(["expiresIn": 1])
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.waitForTheEnd()
    #expect(try chat.open()["user"]?["externalId"] == nil)
    let next = try chat.crashed()
    let bob = try Chat.mint("bob")
    #expect(
      try next.line.failure("chat.setIdentity", ["instance": "desk", "jwt": .string(bob)]).reason
        == "externalUserIdHasChanged")
    try next.setIdentity(try Chat.mint())
    #expect(try next.open()["user"]?["externalId"] == "alice")
  }

  @Test("A new token of the same visitor keeps a valid id token")
  func C5_theSameVisitorsNewTokenKeepsALivingIdToken() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint())
    let token = try chat.open()["token"]?["token"]
    try chat.line.call("storage.put", ["instance": "desk", "key": "k", "value": 1])
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.open()["token"]?["token"] == token)
    #expect(try chat.exchanges().count == 1)
    #expect(try chat.line.call("storage.get", ["instance": "desk", "key": "k"])["value"] == 1)
    #expect(try chat.types("identityWiped", "userLoggedOut").isEmpty)
  }

  // MARK: C6

  @Test("A reset returns when everything is removed")
  func C6_aResetAnswersWhenEverythingIsGone() throws {
    let chat = try Chat { try Chat.minting($0) }
    let jwt = try Chat.mint()
    try chat.setIdentity(jwt)
    let first = try chat.open()
    try chat.line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    #expect(try chat.line.call("chat.resetIdentity", ["instance": "desk"]) == [:])
    #expect(try chat.instance()["state"] == "loggedOut")
    #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    #expect(try chat.line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    let next = try chat.crashed()
    let session = try next.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    #expect(session["user"]?["authenticationType"] == "unauthenticated")
    #expect(session["endpoint"]?["machineId"]?.stringValue != nil)
    #expect(session["endpoint"]?["machineId"] != first["endpoint"]?["machineId"])
    // After the reset there is no authenticator, so the provider gets no question. The vendor's state is not sent
    // again.
    #expect(chat.asked().isEmpty)
    #expect(try next.types("userLoggedOut", "identityWiped") == ["userLoggedOut", "identityWiped"])
    try next.setIdentity()
    #expect(try next.open()["user"]?["externalId"] == "alice")
    #expect(try next.exchanges().map { $0["state"] } == [nil, nil])
  }

  @Test("A reset removes a token that was not used yet")
  func C6_aTokenThatWasGivenAndNotUsedGoesToo() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint())
    try chat.line.call("chat.resetIdentity", ["instance": "desk"])
    #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    #expect(try chat.open()["user"]?["externalId"] == nil)
    #expect(try chat.desk.vendor.log().isEmpty)
  }

  @Test("Calls after a reset wait for it, and the result of an exchange in progress is dropped")
  func C6_whatFollowsAResetWaitsForItAndWhatWasUnderWayIsDropped() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint())
    try chat.script(["passThrough": true, "delayMs": 500])
    let early = chat.line.begin("session.open", ["instance": "desk"])
    _ = try chat.desk.vendor.log(atLeast: 1)
    let reset = chat.line.begin("chat.resetIdentity", ["instance": "desk"])
    let bob = try Chat.mint("bob")
    let set = chat.line.begin("chat.setIdentity", ["instance": "desk", "jwt": .string(bob)])
    let open = chat.line.begin("session.open", ["instance": "desk"])
    #expect(try chat.line.answer(reset)["result"] == [:])
    #expect(try chat.line.answer(set)["result"] == [:])
    #expect(try chat.line.answer(open)["result"]?["user"]?["externalId"] == "bob")
    #expect(try chat.line.answer(early)["result"]?["user"]?["externalId"] != "alice")
    try eventually("the late exchange is over") {
      try chat.desk.vendor.log().allSatisfy { $0["status"] != .null }
    }
    #expect(try chat.types("userLoggedIn") == ["userLoggedIn"])
    #expect(try chat.crashed().open()["user"]?["externalId"] == "bob")
  }

  @Test func C6_aResetIsValidInEveryState() throws {
    let chat = try Chat()
    for _ in 0..<2 { #expect(try chat.line.call("chat.resetIdentity", ["instance": "desk"]) == [:]) }
    let anonymous = try chat.open()["endpoint"]?["machineId"]
    #expect(try chat.line.call("chat.resetIdentity", ["instance": "desk"]) == [:])
    #expect(try chat.open()["endpoint"]?["machineId"] != anonymous)
    #expect(try chat.desk.vendor.log().isEmpty)
  }

  @Test("sdkctl login sets the identity, and sdkctl logout resets it")
  func C6_theVerbsOfTheCommandSetAndResetTheIdentity() throws {
    let chat = try Chat()
    let file = try chat.desk.write("jwt", try Chat.mint(), mode: 0o600)
    let socket = ["--socket", chat.desk.socket]
    _ = try Vendor.output("sdkctl", ["login", "desk", "--file", file.path] + socket)
    #expect(try chat.open()["user"]?["externalId"] == "alice")
    _ = try Vendor.output("sdkctl", ["logout", "desk"] + socket)
    #expect(try chat.instance()["state"] == "loggedOut")
  }

  // MARK: C7

  @Test("A visitor can edit the details until authenticated")
  func C7_detailsAreTheVisitorsOwnUntilAuthenticated() throws {
    let chat = try Chat()
    #expect(try chat.open()["editableFields"] == ["name", "email", "phone"])
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.open()["editableFields"] == [])
    #expect(try chat.crashed().open()["editableFields"] == [])
  }

  @Test("After the fallback, a visitor can edit the details again")
  func C7_aVisitorWhoHasFallenBackMayEditAgain() throws {
    let chat = try Chat()
    try chat.setIdentity(try Chat.mint("alice", ttl: 300, ["--secret", Chat.forged]))
    #expect(try chat.open()["editableFields"] == ["name", "email", "phone"])
  }

  // MARK: C8

  @Test("A ban is detected with the register frame")
  func C8_theRegisterFrameTellsOfABan() throws {
    let chat = try Chat(settings: ["app_id": "app-7"], mediator: true)
    try chat.setIdentity(try Chat.mint())
    let session = try chat.open()
    #expect(session["visible"] == true)
    let frame = try chat.frames().last
    #expect(frame?["__type"] == "register")
    #expect(frame?["accountKey"]?.stringValue == Chat.account)
    #expect(frame?["app_id"] == "app-7")
    #expect(frame?["idt"] == session["token"]?["token"])
    #expect(frame?["mid"] == session["endpoint"]?["machineId"])
    #expect(session["endpoint"]?["appId"] == "app-7")
    for name in ["source", "source_ver", "ua", "cookie_law", "title", "url", "ref"] { #expect(frame?[name] != nil) }
    try chat.desk.vendor.request("POST", "/_ban", ["externalId": "alice"])
    let banned = try chat.open()
    #expect(banned["visible"] == false)
    #expect(banned["reason"] == "banned")
    #expect(banned["token"] == nil)
    #expect(try chat.instance()["state"] == "authenticated")
    #expect(try chat.crashed().open()["reason"] == "banned")
    try chat.desk.vendor.request("POST", "/_ban", ["externalId": "alice", "banned": false])
    #expect(try chat.crashed().open()["visible"] == true)
  }

  @Test("A banned visitor gets no id token, whether the mediator or an app reports the ban", arguments: [true, false])
  func C8_noTokenForTheBanned(mediator: Bool) throws {
    let chat = try Chat(mediator: mediator) { try Chat.minting($0) }
    try chat.setIdentity()
    let token = try chat.open()["token"]
    #expect(try chat.token()["token"] == token?["token"])
    if mediator {
      try chat.desk.vendor.request("POST", "/_ban", ["externalId": "alice"])
      #expect(try chat.open()["reason"] == "banned")
    } else {
      try chat.line.call(
        "token.reject", ["instance": "desk", "tokenId": token?["tokenId"] ?? .null, "code": "banned"])
    }
    let next = try chat.crashed()
    for method in ["token.get", "token.refresh"] {
      let error = try next.line.failure(method, ["instance": "desk"])
      #expect(error.code == -32021)
      #expect(error.reason == "forbidden")
      #expect(error.data["vendorCode"] == "banned")
    }
    #expect(try next.open()["reason"] == "banned")
    if mediator {
      try chat.desk.vendor.request("POST", "/_ban", ["externalId": "alice", "banned": false])
    } else {
      try next.line.call("chat.resetIdentity", ["instance": "desk"])
      try next.setIdentity()
    }
    #expect(try next.open()["visible"] == true)
    #expect(try next.token()["token"]?.stringValue?.isEmpty == false)
  }

  @Test("An anonymous visitor is banned by the machine id")
  func C8_anAnonymousVisitorIsBannedByTheMachine() throws {
    let chat = try Chat(mediator: true)
    let session = try chat.open()
    #expect(session["visible"] == true)
    #expect(try chat.frames().last?["idt"] == nil)
    try chat.desk.vendor.request("POST", "/_ban", ["mid": session["endpoint"]?["machineId"] ?? .null])
    #expect(try chat.open()["reason"] == "banned")
    try chat.line.call("chat.resetIdentity", ["instance": "desk"])
    #expect(try chat.open()["visible"] == true)
  }

  @Test("Without the mediator, a ban that an app reports lasts until a reset")
  func C8_withoutTheMediatorABanThatAnAppReportsHoldsUntilAReset() throws {
    let chat = try Chat { try Chat.minting($0) }
    try chat.setIdentity()
    let token = try chat.open()["token"]?["tokenId"] ?? .null
    try chat.line.call("token.reject", ["instance": "desk", "tokenId": token, "code": "banned"])
    #expect(try chat.open()["reason"] == "banned")
    let next = try chat.crashed()
    #expect(try next.open()["reason"] == "banned")
    try next.setIdentity()
    #expect(try next.open()["reason"] == "banned")
    try next.line.call("chat.resetIdentity", ["instance": "desk"])
    try next.setIdentity()
    #expect(try next.open()["visible"] == true)
  }

  @Test("An id token that the mediator refuses is renewed once")
  func C8_anIdTokenThatIsRefusedThereIsRenewedOnce() throws {
    let chat = try Chat(mediator: true) { try Chat.minting($0) }
    try chat.setIdentity(try Chat.mint())
    let first = try chat.open()["token"]?["token"]
    try chat.desk.vendor.request("POST", "/_revoke", ["sdk": "zc", "externalId": "alice"])
    let second = try chat.open()
    #expect(second["visible"] == true)
    #expect(second["user"]?["externalId"] == "alice")
    #expect(second["token"]?["token"] != first)
    #expect(chat.asked().map { $0["question"] } == ["invalidAuth"])
    #expect(try chat.events("authenticationFailed").isEmpty)
  }

  @Test("Without a provider, an id token that the mediator refuses causes the fallback")
  func C8_anIdTokenThatIsRefusedForGoodFallsBack() throws {
    let chat = try Chat(mediator: true)
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.desk.vendor.request("POST", "/_revoke", ["sdk": "zc", "externalId": "alice"])
    let session = try chat.open()
    #expect(session["visible"] == true)
    #expect(session["token"] == nil)
    let failure = try chat.events("authenticationFailed").last?["data"]
    #expect(failure?["reason"] == "invalidAccessToken")
    #expect(failure?["vendorCode"] == "unauthorized")
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
    #expect(try chat.frames().last?["idt"] == nil)
  }

  private static let silences: [(script: JSONObject, reason: String)] = [
    (["drop": true], "timeout"), (["close": true], "network"), (["close": 1011], "network"),
  ]

  @Test("A mediator that does not respond counts as an outage", arguments: silences)
  func C8_aMediatorThatSaysNothingIsAnOutage(script: JSONObject, reason: String) throws {
    let chat = try Chat(settings: ["timeout": "1s"], mediator: true)
    try chat.setIdentity(try Chat.mint())
    let token = try chat.open()["token"]?["token"]
    try chat.desk.vendor.script(
      .object((["route": "WS /mediator register", "times": 1] as JSONObject).merged(with: script)))
    let error = try chat.line.failure("session.open", ["instance": "desk"])
    #expect(error.code == -32030)
    #expect(error.reason == reason)
    #expect(try chat.types("networkError", "authenticationFailed") == ["networkError"])
    #expect(try chat.token()["token"] == token)
    #expect(try chat.open()["visible"] == true)
  }

  @Test("An account that the mediator does not know is reported")
  func C8_anAccountThatTheMediatorDoesNotKnowIsSaid() throws {
    let chat = try Chat(settings: ["account_key": "no-such-account"], mediator: true)
    let error = try chat.line.failure("session.open", ["instance": "desk"])
    #expect(error.reason == "invalidAccountKey")
    #expect(error.data["vendorCode"] == "unknown")
  }

  // MARK: C9

  @Test func C9_thereIsNoHistory() throws {
    let chat = try Chat()
    #expect(try chat.open()["history"] == false)
    try chat.setIdentity(try Chat.mint())
    #expect(try chat.open()["history"] == false)
  }
}
