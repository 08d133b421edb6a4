import Foundation
import JSONRPC
import Testing

/// The rows of the design's table for Messaging that are about tokens: their end, their refusal, their renewal.
@Suite struct MessagingTokenRowTests {
  @Test("An anonymous user is kept when the session token is refused, and locked when it is refused again")
  func M4_anAnonymousUserIsKeptWhenTheSessionTokenIsRefused() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["realtime": "off", "refresh": ["min_interval": "200ms"]],
      provider: try desk.countingProvider())
    let session = try line.call("session.open", ["instance": "desk"])
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "mine"])
    let params: JSON = ["instance": "desk", "tokenId": session["token"]?["tokenId"] ?? .null, "status": 401]
    // A single refusal may be a proxy's.
    try desk.vendor.script(["route": "GET /v2/apps/*/appusers/*", "status": 401])
    try line.call("token.reject", params)
    try eventually("the token is accepted again") { (try? line.call("token.get", ["instance": "desk"])) != nil }
    #expect(try desk.state(of: "desk", on: line) == "anonymous")
    try desk.vendor.script(["route": "GET /v2/apps/*/appusers/*", "status": 401, "times": "forever"])
    usleep(250_000)
    try line.call("token.reject", params)
    try eventually("the second refusal is believed") {
      _ = try? line.call("token.get", ["instance": "desk"])
      return try desk.state(of: "desk", on: line) == "reauthNeeded"
    }
    #expect(try line.call("session.open", ["instance": "desk"])["reason"] == "reauthNeeded")
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "mine")
    #expect(try desk.events("desk", on: line, "authenticationFailed").count == 1)
    #expect(try desk.events("desk", on: line, "userLoggedOut", "identityWiped").isEmpty)
    #expect(desk.runs("desk") == 0)
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == false)
    try desk.vendor.clearScripts()
    let next = try line.call("session.open", ["instance": "desk"])
    #expect(next["user"]?["id"] != session["user"]?["id"])
  }

  @Test func M4_expiryWithoutAProviderKeepsTheIdentityAndLocksTheContent() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try eventually("the token has ended") { try desk.state(on: line) == "reauthNeeded" }
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    #expect(user["externalId"] == "alice")
    #expect(user["authenticated"] == false)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "reauthNeeded")
    #expect(try desk.eventTypes(on: line).filter { $0 == "authenticationFailed" }.count == 1)
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "reauthNeeded")
  }

  @Test("A denial by the provider logs the user out implicitly")
  func M4_denialLogsOutImplicitly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("exit 77"))
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "providerDenied")
    #expect(try desk.state(on: line) == "loggedOut")
    let events = try line.call("events.list")["events"]?.arrayValue ?? []
    let out = events.first { $0["type"] == "userLoggedOut" }
    #expect(out?["data"]?["cause"] == "implicit")
    #expect(out?["data"]?["user"]?["externalId"] == "alice")
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test("The user is logged out implicitly when the budget of refused tokens is spent")
  func M4_aSpentBudgetOfRefusedTokensLogsOutImplicitly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let mint =
      "echo run >> \(desk.folder.path)/runs; exec '\(Program.path("sdk-sandbox"))' mint --external-id alice --secret not-the-secret-of-this-key-0000000000000"
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider(mint))
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "invalidAuth")
    #expect(try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8) == "run\nrun\nrun\n")
    #expect(try desk.state(on: line) == "loggedOut")
    #expect(try desk.eventTypes(on: line).filter { $0 == "authenticationFailed" }.count == 1)
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test("An expired token is reported as expired, without a request")
  func M5_anExpiredTokenIsToldInTheSeedsWordsWithoutARequest() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let expired = try line.failure(
      "messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: -5))])
    #expect(expired.code == -32020)
    #expect(expired.reason == "expiredJWT")
    #expect(expired.message.hasPrefix("The JWT has expired"))
    #expect(try desk.vendor.log().isEmpty)
    let event = try line.call("events.list")["events"]?.arrayValue?.last
    #expect(event?["type"] == "authenticationFailed")
    #expect(event?["data"]?["message"]?.stringValue?.hasPrefix("The JWT has expired") == true)
  }

  @Test(
    "A malformed token or one with invalid claims is refused without a request",
    arguments: [
      ("garbage", "failedToDecodeJWT"), ("a.b.c", "failedToDecodeJWT"), ("", "failedToDecodeJWT"),
      // {"alg":"none"} . {"external_id":"alice"} .
      ("eyJhbGciOiJub25lIn0.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0.", "invalidJWTClaims"),
      // {"alg":"HS256"} . {"external_id":7} . AAAA
      ("eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6N30.AAAA", "invalidJWTClaims"),
    ])
  func M5_aTokenThatCannotBeRightCostsNoRequest(token: String, reason: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(token)])
    #expect(error.reason == reason)
    #expect(try desk.vendor.log().isEmpty)
    #expect(try desk.state(on: line) == "noUser")
  }

  @Test("A reader of an expired token gets a renewed one, and no failure is reported")
  func M6_aDeadTokenIsRenewedWithoutTheReaderNoticing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.mintingProvider())
    let first = try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    let token = try line.call("token.get", ["instance": "desk"])
    #expect(token["token"] != .string(first))
    #expect(token["fromCache"] == false)
    #expect(try desk.state(on: line) == "authenticated")
    let types = try desk.eventTypes(on: line)
    #expect(types.contains("tokenRefreshed"))
    #expect(!types.contains("authenticationFailed"))
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == token["token"])
  }

  @Test("Fifty concurrent readers share one provider run")
  func M6_fiftyReadersMakeOneProviderRun() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let slow =
      "echo run >> \(desk.folder.path)/runs; sleep 0.3; exec '\(Program.path("sdk-sandbox"))' mint --external-id alice"
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider(slow))
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    let ids = (0..<50).map { _ in line.begin("token.get", ["instance": "desk"]) }
    let tokens = try Set(ids.map { try line.answer($0)["result"]?["token"]?.stringValue ?? "none" })
    #expect(tokens.count == 1)
    #expect(try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8) == "run\n")
    #expect(try desk.eventTypes(on: line).filter { $0 == "tokenRefreshed" }.count == 1)
  }

  @Test("A token that an app reports as refused is renewed")
  func M6_aTokenThatAnAppSawRefusedIsRenewed() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    let first = try desk.logIn(on: line)
    let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
    try line.call("token.reject", ["instance": "desk", "tokenId": id, "status": 401])
    let next = try line.call("token.get", ["instance": "desk"])
    #expect(next["token"] != .string(first))
    #expect(try desk.state(on: line) == "authenticated")
    // The rejection of a token that is not current is ignored.
    try line.call("token.reject", ["instance": "desk", "tokenId": id])
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == next["token"])
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == next["token"])
  }

  @Test("Without a delegate, an expired token makes the session invisible")
  func M7_withoutADelegateTheSessionShowsNothing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "reauthNeeded")
    #expect(session["token"] == nil)
    try desk.crash()
    let after = try desk.connect()
    #expect(try after.call("session.open", ["instance": "desk"])["reason"] == "reauthNeeded")
    // A login with a new token opens the session again.
    try desk.logIn(on: after)
    #expect(try after.call("session.open", ["instance": "desk"])["visible"] == true)
  }

  @Test("A token is renewed before it expires")
  func M11_aTokenIsRenewedAheadOfItsEnd() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    let subscription = try line.call("events.subscribe", ["types": ["tokenRefreshed", "authenticationFailed"]])
    #expect(subscription["subscription"]?.stringValue != nil)
    try desk.logIn(ttl: 10, on: line)
    let event = try line.notification("events.event")
    #expect(event["event"]?["type"] == "tokenRefreshed", "\(JSONWriter.text(of: event)) \(desk.logs)")
  }

  @Test("The refusal of a token near its expiry has the hint nearExpiry")
  func M11_nearExpiryIsAHintOfARefusal() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let forged = try Vendor.mint("alice", ttl: 10, ["--secret", "not-the-secret-of-this-key-0000000000000"])
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(forged)])
    #expect(error.data["hints"]?.arrayValue?.contains("nearExpiry") == true)
  }

  @Test("The login with a token near its expiry has the hint nearExpiry")
  func M11_nearExpiryIsAHintOfALogin() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(ttl: 20, on: line)
    let login = try desk.events("desk", on: line).first { $0["type"] == "userLoggedIn" }
    #expect(login?["data"]?["hints"]?.arrayValue?.contains("nearExpiry") == true)
  }

  @Test("With minTTL, a caller gets a token that is valid for longer")
  func M11_minTTLAsksForALongerLife() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.mintingProvider())
    let first = try desk.logIn(ttl: 30, on: line)
    #expect(try line.call("token.get", ["instance": "desk", "minTTL": 10])["token"] == .string(first))
    let longer = try line.call("token.get", ["instance": "desk", "minTTL": "5m"])
    #expect(longer["token"] != .string(first))
    #expect((longer["ttl"]?.doubleValue ?? 0) > 300)
    // A fresh token that is still too short is marked as `short`, and starts no further run.
    let short = try line.call("token.get", ["instance": "desk", "minTTL": "2h"])
    #expect(short["token"] == longer["token"])
    #expect(short["short"] == true)
  }

  @Test("A token that expires after the year 9999 has a TTL")
  func M5_aTokenThatEndsInAnotherAgeHasATTL() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    func part(_ text: String) -> String {
      Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    for end in ["1e308", "1e18", "253402300800"] {
      try desk.create("desk", on: line, settings: ["realtime": "off"])
      try desk.vendor.script([
        "route": "POST /v2/apps/*/login", "times": 1, "body": ["appUser": ["_id": "a1", "userId": "alice"]],
      ])
      let jwt =
        part("{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"app_1\"}") + "."
        + part("{\"scope\":\"user\",\"external_id\":\"alice\",\"exp\":\(end)}") + "." + part("signature")
      try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
      for _ in 0..<2 {
        let token = try line.call("token.get", ["instance": "desk"])
        #expect((token["ttl"]?.doubleValue ?? 0) > 1e9, "\(end)")
        #expect(token["expiresAt"] == "9999-12-31T23:59:59.000Z")
      }
      try line.call("instance.delete", ["instance": "desk"])
    }
  }
}
