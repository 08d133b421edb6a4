import Foundation
import JSONRPC
import Testing

/// The errors, events and questions after a credential has ended or was refused.
@Suite struct DeadCredentialTests {
  private func open(_ provider: String?, settings: JSONObject = [:]) throws -> (Desk, Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    let base: JSONObject = ["realtime": "off", "refresh": ["mode": "lazy"]]
    try desk.create(
      "desk", on: line, settings: base.merged(with: settings), provider: try provider.map { try desk.provider($0) })
    return (desk, line)
  }

  private func hints(_ event: JSON?) -> String {
    (event?["data"]?["hints"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: "\n")
  }

  /// Returns the question that a provider has written to a file.
  private func question(_ name: String, in desk: Desk) throws -> JSON {
    try JSONParser.parse(try String(contentsOf: desk.folder.appendingPathComponent(name), encoding: .utf8))
  }

  // MARK: The cause and the provider's failure

  @Test("If the provider fails after an expiry, the event has the reason expiredJWT and a hint at the provider")
  func M5_anExpiryWithAFailingProviderIsToldInTheSeedsWords() throws {
    let (desk, line) = try open("exit 1")
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "providerFailed")
    let event = try desk.events("desk", on: line, "authenticationFailed").last
    #expect(event?["data"]?["reason"] == "expiredJWT")
    #expect(event?["data"]?["message"]?.stringValue?.hasPrefix("The JWT has expired") == true)
    #expect(hints(event).contains("providerFailed"))
  }

  @Test("If the provider fails after a refusal, the event has the vendor's code and a hint at the provider")
  func M5_aRefusalWithAFailingProviderIsToldWithTheVendorsWords() throws {
    let (desk, line) = try open("exit 1")
    try desk.logIn(on: line)
    try desk.crash()
    try desk.vendor.revoke("alice")
    let next = try desk.connect()
    #expect(try next.call("session.open", ["instance": "desk"])["reason"] == "reauthNeeded")
    let event = try desk.events("desk", on: next, "authenticationFailed").last
    #expect(event?["data"]?["reason"] == "invalidAuth")
    #expect(event?["data"]?["httpStatus"] == 401)
    #expect(event?["data"]?["vendorCode"] == "invalid_auth")
    #expect(hints(event).contains("providerFailed"))
  }

  @Test("If the provider fails after an expiry, the fallback has the reason expiredJWT")
  func C2_anExpiryWithAFailingProviderFallsBackInTheSeedsWords() throws {
    let chat = try Chat { try $0.provider("exit 1") }
    try chat.options(["expiresIn": 1])
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.waitForTheEnd()
    // The caller gets the error of the attempt to get another credential.
    #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "providerFailed")
    #expect(try chat.instance()["degraded"] == "anonymousFallback")
    let event = try chat.events("authenticationFailed").last
    #expect(event?["data"]?["reason"] == "expiredJWT")
    #expect(event?["data"]?["message"]?.stringValue?.hasPrefix("The JWT has expired") == true)
    #expect(hints(event).contains("providerFailed"))
    #expect(try chat.events("fellBackToAnonymous").last?["data"]?["reason"] == "expiredJWT")
  }

  @Test("If the provider fails after a refusal, the fallback has the reason of the refusal")
  func C2_aRefusalWithAFailingProviderFallsBackWithTheVendorsWords() throws {
    let chat = try Chat(mediator: true) { try $0.provider("exit 1") }
    try chat.setIdentity(try Chat.mint())
    _ = try chat.open()
    try chat.desk.vendor.request("POST", "/_revoke", ["sdk": "zc", "externalId": "alice"])
    #expect(try chat.open()["token"] == nil)
    let event = try chat.events("authenticationFailed").last
    #expect(event?["data"]?["reason"] == "invalidAccessToken")
    #expect(event?["data"]?["vendorCode"] == "unauthorized")
    #expect(hints(event).contains("providerFailed"))
    #expect(try chat.events("fellBackToAnonymous").last?["data"]?["reason"] == "invalidAccessToken")
  }

  // MARK: The question

  @Test("The question has the error that the app reported")
  func R9_theQuestionCarriesWhatTheAppReported() throws {
    let (desk, line) = try open("cat > \"$(dirname \"$0\")/question\"; exec \(BridgeDesk.mint)")
    try desk.logIn(on: line)
    let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
    try line.call(
      "token.reject",
      ["instance": "desk", "tokenId": id, "status": 403, "code": "blocked", "description": "Not today"])
    _ = try line.call("token.get", ["instance": "desk"])
    let asked = try question("question", in: desk)
    #expect(asked["question"] == "invalidAuth")
    #expect(
      asked["error"]
        == ["reason": "invalidAuth", "code": "blocked", "description": "Not today", "httpStatus": 403])
  }

  @Test("The question has the error of the vendor")
  func R9_theQuestionCarriesWhatTheVendorRefused() throws {
    let (desk, line) = try open("cat > \"$(dirname \"$0\")/question\"; exec \(BridgeDesk.mint)")
    try desk.logIn(on: line)
    try desk.crash()
    try desk.vendor.revoke("alice")
    #expect(try desk.connect().call("session.open", ["instance": "desk"])["visible"] == true)
    let asked = try question("question", in: desk)["error"]
    #expect(asked?["reason"] == "invalidAuth")
    #expect(asked?["httpStatus"] == 401)
    #expect(asked?["code"] == "invalid_auth")
  }

  @Test("The second question has the vendor's error, not that of an expired JWT")
  func F5_theSecondQuestionCarriesWhatWasRefusedAndNoJWT() throws {
    let desk = try ServiceDesk(
      provider: """
        cat > "question-$SDKD_QUESTION"
        case $SDKD_QUESTION in shouldAuthenticate) cat answer ;; *) echo '{"proceed": true}' ;; esac
        """)
    try desk.signIn("alice", refreshable: false)
    try desk.writeAnswer(try desk.grant("alice"))
    try desk.revoke("alice", "access")
    #expect(try desk.open()["visible"] == true)
    let first = try question("question-authenticationFailed", in: desk.desk)["error"]
    let second = try question("question-shouldAuthenticate", in: desk.desk)["error"]
    #expect(first?["httpStatus"] != nil)
    #expect(second == first)
    #expect(second?["reason"] != "expiredJWT")
  }

  // MARK: The user

  @Test("In reauthNeeded, the user is unauthenticated and keeps the former ids")
  func M9_inReauthNeededTheUserIsUnauthenticatedWithTheFormerIds() throws {
    let (desk, line) = try open(nil)
    try desk.logIn(on: line)
    let former = try desk.user(on: line)
    try desk.vendor.revoke("alice")
    try line.call(
      "token.reject", ["instance": "desk", "tokenId": line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null])
    try eventually("a new login is needed") { try desk.state(on: line) == "reauthNeeded" }
    try desk.crash()
    let next = try desk.connect()
    for user in [try desk.user(on: next), try next.call("session.open", ["instance": "desk"])["user"] ?? .null] {
      #expect(user["authenticationType"] == "unauthenticated")
      #expect(user["authenticated"] == false)
      #expect(user["verified"] == false)
      #expect(user["id"] == former["id"])
      #expect(user["externalId"] == "alice")
    }
    try desk.logIn(on: next)
    #expect(try desk.user(on: next)["authenticationType"] == "jwt")
    #expect(try desk.user(on: next)["verified"] == true)
  }

  @Test("After an implicit logout, no anonymous user is created before a login or an explicit logout")
  func M2_afterAnImplicitLogoutNoAnonymousUserIsMadeUntilALoginOrALogout() throws {
    let (desk, line) = try open("exit 77")
    try desk.logIn(on: line)
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerDenied")
    #expect(try desk.state(on: line) == "loggedOut")
    try desk.crash()
    let next = try desk.connect()
    for _ in 0..<2 {
      let session = try next.call("session.open", ["instance": "desk"])
      #expect(session["visible"] == false)
      #expect(session["reason"] == "notAuthenticated")
    }
    #expect(try desk.vendor.count("POST", "/appusers") == 0)
    try next.call("messaging.logoutUser", ["instance": "desk"])
    try desk.crash()
    let last = try desk.connect()
    #expect(try last.call("session.open", ["instance": "desk"])["visible"] == true)
    #expect(try desk.vendor.count("POST", "/appusers") == 1)
  }

  // MARK: The clock

  @Test("A clock that is wrong for a short time does not sign the user out")
  func R8_aClockThatWasWrongForAMomentSignsNobodyOut() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["realtime": "off"])
    let jwt = try desk.logIn(ttl: 3600, on: line)
    try clock.move(to: 7200)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "reauthNeeded")
    #expect(try desk.state(on: line) == "reauthNeeded")
    try clock.move(to: 0)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try desk.state(on: line) == "authenticated")
    #expect(try desk.user(on: line)["authenticated"] == true)
    let told = try desk.events("desk", on: line, "authenticationFailed", "tokenRefreshed")
    #expect(told.map { $0["type"]?.stringValue } == ["authenticationFailed", "tokenRefreshed"])
    // A start with the clock ahead, then a start with the right time.
    desk.stop()
    try clock.move(to: 7200)
    try desk.start(environment: clock.environment)
    #expect(try desk.state(on: try desk.connect()) == "reauthNeeded")
    desk.stop()
    try clock.move(to: 0)
    try desk.start(environment: clock.environment)
    let next = try desk.connect()
    #expect(try desk.state(on: next) == "authenticated")
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try next.call("session.open", ["instance": "desk"])["visible"] == true)
  }

  @Test("A clock that is wrong for a short time does not end a visitor's id token")
  func R8_aClockThatWasWrongForAMomentDoesNotEndAVisitorsIdToken() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    var chat = Chat(desk, try desk.connect())
    try desk.create("desk", kind: "zendesk.chat", on: chat.line, settings: try KindSample.chat.settings(desk.vendor))
    try chat.setIdentity(try Chat.mint())
    let token = try chat.open()["token"]?["token"]
    #expect(token?.stringValue?.isEmpty == false)
    func move(to seconds: Int, restarting: Bool = false) throws {
      if restarting { desk.stop() }
      try clock.move(to: seconds)
      guard restarting else { return }
      try desk.start(environment: clock.environment)
      chat = Chat(desk, try desk.connect())
    }
    func checkFallback() throws {
      let session = try chat.open()
      #expect(session["visible"] == true)
      #expect(session["token"] == nil)
      #expect(session["user"]?["externalId"] == nil)
      #expect(try chat.instance()["state"] == "anonymous")
      #expect(try chat.instance()["degraded"] == "anonymousFallback")
      #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    }
    func checkIdentity() throws {
      #expect(try chat.token()["token"] == token)
      #expect(try chat.instance()["state"] == "authenticated")
      #expect(try chat.instance()["degraded"] == nil)
      #expect(try chat.open()["user"]?["externalId"] == "alice")
    }
    let far = 10 * 86_400
    try move(to: far)
    try checkFallback()
    try move(to: 0)
    try checkIdentity()
    #expect(
      try chat.types("authenticationFailed", "fellBackToAnonymous", "tokenRefreshed")
        == ["authenticationFailed", "fellBackToAnonymous", "tokenRefreshed"])
    // An identity that is set in the meantime and for which no JWT is supplied leaves the id token in place.
    try move(to: far)
    try checkFallback()
    try chat.setIdentity()
    try checkFallback()
    try move(to: 0)
    try checkIdentity()
    // A start with the clock ahead, then a start with the right time.
    try move(to: far, restarting: true)
    try checkFallback()
    try move(to: 0, restarting: true)
    #expect(try chat.instance()["state"] == "authenticated")
    try checkIdentity()
    // A reset ends the id token for good, also when the clock is right again.
    try move(to: far)
    try checkFallback()
    try chat.line.call("chat.resetIdentity", ["instance": "desk"])
    try move(to: 0)
    #expect(try chat.line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
  }
}
