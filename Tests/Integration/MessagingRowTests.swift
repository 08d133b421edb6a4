import Foundation
import JSONRPC
import Testing

/// The rows M1 to M12 of the design's table for Messaging, through the socket, the daemon and real HTTP.
@Suite struct MessagingRowTests {
  private func loggedIn(_ desk: Desk, _ line: Line, as user: String = "alice", ttl: Int = 3600) throws -> String {
    let jwt = try Vendor.mint(user, ttl: ttl)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    return jwt
  }

  /// Waits until the token at hand has ended by the clock.
  private func waitForTheEnd(_ line: Line) throws {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let text = try line.call("instance.get", ["instance": "desk"])["expiresAt"]?.stringValue ?? ""
    guard let end = formatter.date(from: text) else { throw Program.Failure(description: "no expiresAt: \(text)") }
    try eventually("the token has ended") { Date() > end }
  }

  private func state(_ line: Line) throws -> String? {
    try line.call("instance.get", ["instance": "desk"])["state"]?.stringValue
  }

  private func eventTypes(_ line: Line) throws -> [String] {
    try line.call("events.list", ["limit": 500])["events"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
  }

  @Test func M1_loginGivesTheUserAndTheSameTokenCostsNoRequest() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try Vendor.mint("alice", ttl: 3600, ["--name", "Alice"])
    let user = try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    #expect(user["externalId"] == "alice")
    #expect(user["authenticationType"] == "jwt")
    #expect(user["authenticated"] == true)
    #expect(user["id"]?.stringValue != nil)
    let before = try desk.vendor.log().count
    let again = try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    #expect(again["id"] == user["id"])
    #expect(try desk.vendor.log().count == before)
    // A new token of the same user: a login, the same user.
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(try desk.vendor.count("POST", "/login") == 2)
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    try desk.crash()
    let after = try desk.connect().call("instance.currentUser", ["instance": "desk"])
    #expect(after["id"] == user["id"])
  }

  @Test func M1_anotherUserIsLoggedInAfterTheFormerIsLoggedOut() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    _ = try loggedIn(desk, line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    let epoch = try line.call("instance.get", ["instance": "desk"])["storageEpoch"]
    _ = try loggedIn(desk, line, as: "bob")
    let paths = try desk.vendor.log().compactMap {
      $0["path"]?.stringValue?.split(separator: "/").last.map(String.init)
    }
    #expect(paths == ["login", "logout", "login"])
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["externalId"] == "bob")
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    let old = try line.failure(
      "storage.put", ["instance": "desk", "key": "draft", "value": 1, "storageEpoch": epoch ?? .null])
    #expect(old.reason == "epochChanged")
    let types = try eventTypes(line)
    #expect(
      types.filter { ["userLoggedIn", "userLoggedOut", "identityWiped"].contains($0) }
        == ["userLoggedIn", "userLoggedOut", "identityWiped", "userLoggedIn"])
  }

  @Test func M1_aFormerUserWhoseTokenIsDeadIsLoggedOutWithAFreshOne() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.mintingProvider())
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    _ = try loggedIn(desk, line, as: "bob")
    let calls = try desk.vendor.log().map {
      ($0["path"]?.stringValue?.hasSuffix("/logout") ?? false, $0["status"]?.intValue)
    }
    #expect(calls.count == 3)
    #expect(calls[1] == (true, 200))
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["externalId"] == "bob")
  }

  @Test func M1_aFormerUserWithoutAFreshTokenIsLoggedOutLocally() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    _ = try loggedIn(desk, line, as: "bob")
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["externalId"] == "bob")
  }

  @Test func M2_aFailedLoginKeepsTheCurrentUser() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try loggedIn(desk, line)
    let forged = try Vendor.mint("alice", ttl: 3600, ["--secret", "not-the-secret-of-this-key-0000000000000"])
    let refused = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(forged)])
    #expect(refused.code == -32021)
    #expect(refused.reason == "invalidAuth")
    #expect(refused.data["httpStatus"] == 401)
    #expect(refused.data["vendorCode"] == "invalid_auth")
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try eventTypes(line).filter { $0 == "authenticationFailed" }.count == 1)
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == .string(jwt))
  }

  @Test func M2_withoutAUserOneIsMadeByTheFirstSession() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == true)
    #expect(session["mayMerge"] == true)
    #expect(session["user"]?["authenticationType"] == "sessionToken")
    #expect(session["token"]?["tokenType"] == "sessionToken")
    #expect(session["token"]?["http"]?["headers"]?["Authorization"]?.stringValue?.hasPrefix("Basic ") == true)
    #expect(try state(line) == "anonymous")
    try desk.crash()
    let after = try desk.connect().call("session.open", ["instance": "desk"])
    #expect(after["user"]?["id"] == session["user"]?["id"])
    #expect(try desk.vendor.count("POST", "/appusers") == 1)
  }

  @Test func M3_logoutTellsTheVendorAndClearsEverything() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    _ = try loggedIn(desk, line)
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == true)
    #expect(try state(line) == "loggedOut")
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == false)
    #expect(try desk.vendor.count("POST", "/logout") == 1)
    try desk.crash()
    #expect(try state(try desk.connect()) == "loggedOut")
  }

  @Test func M3_logoutKeepsEverythingWhenTheVendorIsDown() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try loggedIn(desk, line)
    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "status": 503, "times": 1])
    let down = try line.failure("messaging.logoutUser", ["instance": "desk"])
    #expect(down.reason == "serverError")
    #expect(down.isRetryable)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try next.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])["backendInformed"] == false)
    #expect(try state(next) == "loggedOut")
  }

  @Test func M3_logoutWithADeadTokenAsksTheProviderOnce() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let counted =
      "echo run >> \(desk.folder.path)/runs; exec '\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider(counted))
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == true)
    let runs = try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)
    #expect(runs == "run\n")
    #expect(try desk.vendor.count("POST", "/logout") == 1)
  }

  @Test func M3_logoutThatTheVendorRefusesIsLocal() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    _ = try loggedIn(desk, line)
    try desk.vendor.revoke("alice")
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == false)
    #expect(try state(line) == "loggedOut")
  }

  @Test func M4_expiryWithoutAProviderKeepsTheIdentityAndLocksTheContent() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    _ = try loggedIn(desk, line, ttl: 2)
    try eventually("the token has ended") { try state(line) == "reauthNeeded" }
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    #expect(user["externalId"] == "alice")
    #expect(user["authenticated"] == false)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "reauthNeeded")
    #expect(try eventTypes(line).filter { $0 == "authenticationFailed" }.count == 1)
    try desk.crash()
    #expect(try state(try desk.connect()) == "reauthNeeded")
  }

  @Test func M4_denialLogsOutImplicitly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("exit 77"))
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "providerDenied")
    #expect(try state(line) == "loggedOut")
    let events = try line.call("events.list")["events"]?.arrayValue ?? []
    let out = events.first { $0["type"] == "userLoggedOut" }
    #expect(out?["data"]?["cause"] == "implicit")
    #expect(out?["data"]?["user"]?["externalId"] == "alice")
  }

  @Test func M4_aSpentBudgetOfRefusedTokensLogsOutImplicitly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let mint =
      "echo run >> \(desk.folder.path)/runs; exec '\(Program.path("sdk-sandbox"))' mint --external-id alice --secret not-the-secret-of-this-key-0000000000000"
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider(mint))
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "invalidAuth")
    #expect(try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8) == "run\nrun\nrun\n")
    #expect(try state(line) == "loggedOut")
    #expect(try eventTypes(line).filter { $0 == "authenticationFailed" }.count == 1)
  }

  @Test func M5_anExpiredTokenIsToldInTheSeedsWordsWithoutARequest() throws {
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

  @Test(arguments: [
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
    #expect(try state(line) == "noUser")
  }

  @Test func M6_aDeadTokenIsRenewedWithoutTheReaderNoticing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.mintingProvider())
    let first = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    let token = try line.call("token.get", ["instance": "desk"])
    #expect(token["token"] != .string(first))
    #expect(token["fromCache"] == false)
    #expect(try state(line) == "authenticated")
    let types = try eventTypes(line)
    #expect(types.contains("tokenRefreshed"))
    #expect(!types.contains("authenticationFailed"))
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == token["token"])
  }

  @Test func M6_fiftyReadersMakeOneProviderRun() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let slow =
      "echo run >> \(desk.folder.path)/runs; sleep 0.3; exec '\(Program.path("sdk-sandbox"))' mint --external-id alice"
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider(slow))
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    let ids = (0..<50).map { _ in line.begin("token.get", ["instance": "desk"]) }
    let tokens = try Set(ids.map { try line.answer($0)["result"]?["token"]?.stringValue ?? "none" })
    #expect(tokens.count == 1)
    #expect(try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8) == "run\n")
    #expect(try eventTypes(line).filter { $0 == "tokenRefreshed" }.count == 1)
  }

  @Test func M6_aTokenThatAnAppSawRefusedIsRenewed() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    let first = try loggedIn(desk, line)
    let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
    try line.call("token.reject", ["instance": "desk", "tokenId": id, "status": 401])
    let next = try line.call("token.get", ["instance": "desk"])
    #expect(next["token"] != .string(first))
    #expect(try state(line) == "authenticated")
    // A token that is not current is ignored.
    try line.call("token.reject", ["instance": "desk", "tokenId": id])
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == next["token"])
  }

  @Test func M7_withoutADelegateTheSessionShowsNothing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    _ = try loggedIn(desk, line, ttl: 2)
    try waitForTheEnd(line)
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "reauthNeeded")
    #expect(session["token"] == nil)
  }

  @Test func M8_anAnonymousUserIsMergedIntoTheOneWhoLogsIn() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    // Alice is known to the vendor already.
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("alice"))])
    try desk.create("desk", on: line)
    let anonymous = try line.call("session.open", ["instance": "desk"])["user"]?["id"]?.stringValue ?? ""
    _ = try loggedIn(desk, line)
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    #expect(user["id"]?.stringValue != anonymous)
    let merged = try line.call("events.list", ["types": ["userMerged"]])["events"]?.arrayValue?.last
    #expect(merged?["data"]?["from"] == .string(anonymous))
    #expect(merged?["data"]?["to"] == user["id"])
    #expect(merged?["data"]?["mode"] == "single")
  }

  @Test func M9_theCurrentUserSaysHowItIsKnown() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let nobody = try line.call("messaging.getCurrentUser", ["instance": "desk"])
    #expect(nobody["authenticationType"] == "unauthenticated")
    #expect(nobody["authenticated"] == false)
    try line.call("session.open", ["instance": "desk"])
    #expect(try line.call("messaging.getCurrentUser", ["instance": "desk"])["authenticationType"] == "sessionToken")
    _ = try loggedIn(desk, line)
    #expect(try line.call("messaging.getCurrentUser", ["instance": "desk"])["authenticationType"] == "jwt")
  }

  @Test func M10_twoInstancesNeverMix() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    try desk.create("other", on: line)
    let alice = try loggedIn(desk, line)
    let bob = try Vendor.mint("bob")
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(bob)])
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(alice))
    #expect(try line.call("token.get", ["instance": "other"])["token"] == .string(bob))
    let clients = try desk.vendor.log().compactMap { entry in
      entry["headers"]?.objectValue?.members.first { $0.key.lowercased() == "x-smooch-clientid" }?.value.stringValue
    }
    #expect(Set(clients).count == 2)
    try desk.vendor.revoke("alice")
    let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
    try line.call("token.reject", ["instance": "desk", "tokenId": id])
    _ = try line.call("token.get", ["instance": "desk"])
    #expect(try line.call("token.get", ["instance": "other"])["token"] == .string(bob))
  }

  @Test func M11_aTokenIsRenewedAheadOfItsEnd() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    let subscription = try line.call("events.subscribe", ["types": ["tokenRefreshed", "authenticationFailed"]])
    #expect(subscription["subscription"]?.stringValue != nil)
    _ = try loggedIn(desk, line, ttl: 4)
    let event = try line.notification("events.event")
    #expect(event["event"]?["type"] == "tokenRefreshed", "\(JSONWriter.text(of: event)) \(desk.logs)")
  }

  @Test func M11_nearExpiryIsAHintOfARefusal() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let forged = try Vendor.mint("alice", ttl: 10, ["--secret", "not-the-secret-of-this-key-0000000000000"])
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(forged)])
    #expect(error.data["hints"]?.arrayValue?.contains("nearExpiry") == true)
  }

  @Test func M11_minTTLAsksForALongerLife() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.mintingProvider())
    let first = try loggedIn(desk, line, ttl: 30)
    #expect(try line.call("token.get", ["instance": "desk", "minTTL": 10])["token"] == .string(first))
    let longer = try line.call("token.get", ["instance": "desk", "minTTL": "5m"])
    #expect(longer["token"] != .string(first))
    #expect((longer["ttl"]?.doubleValue ?? 0) > 300)
    // A fresh one that is too short as well is said to be, and starts no further run.
    let short = try line.call("token.get", ["instance": "desk", "minTTL": "2h"])
    #expect(short["token"] == longer["token"])
    #expect(short["short"] == true)
  }

  @Test func M12_neverAnonymousShowsNothingBeforeTheLogin() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["anonymous": "never"])
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "notAuthenticated")
    #expect(try desk.vendor.log().isEmpty)
  }
}
