import Foundation
import JSONRPC
import Testing

/// The rows of the design's table for Messaging that are about users, through the socket, the daemon and real HTTP.
@Suite struct MessagingRowTests {
  @Test("A login returns the user, and the same token again causes no request")
  func M1_loginGivesTheUserAndTheSameTokenCostsNoRequest() throws {
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
    for same in [jwt, "Bearer \(jwt)"] {
      let again = try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(same)])
      #expect(again["id"] == user["id"])
    }
    #expect(try desk.vendor.log().count == before)
    // A new token of the same user is a new login of that user, without a logout.
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(try desk.vendor.count("POST", "/login") == 2)
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    try desk.crash()
    let after = try desk.connect().call("instance.currentUser", ["instance": "desk"])
    #expect(after["id"] == user["id"])
  }

  @Test("Another user is logged in first; then the former user is wiped and logged out")
  func M1_anotherUserIsLoggedInFirstAndTheFormerIsWipedAndLoggedOutThen() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    let epoch = try line.call("instance.get", ["instance": "desk"])["storageEpoch"]
    try desk.logIn(as: "bob", on: line)
    try eventually("the former user is logged out") { try desk.vendor.count("POST", "/logout") == 1 }
    let paths = try desk.vendor.log().compactMap {
      $0["path"]?.stringValue?.split(separator: "/").last.map(String.init)
    }
    #expect(paths == ["login", "login", "logout"])
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["externalId"] == "bob")
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    let old = try line.failure(
      "storage.put", ["instance": "desk", "key": "draft", "value": 1, "storageEpoch": epoch ?? .null])
    #expect(old.reason == "epochChanged")
    let types = try desk.eventTypes(on: line)
    #expect(
      types.filter { ["userLoggedIn", "userLoggedOut", "identityWiped"].contains($0) }
        == ["userLoggedIn", "userLoggedOut", "identityWiped", "userLoggedIn"])
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.user(on: next)["externalId"] == "bob")
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
  }

  @Test(
    "A former user with an expired token is logged out locally, without provider run or logout request",
    arguments: [true, false])
  func M1_aFormerUserWhoseTokenIsDeadIsLoggedOutLocallyAndNobodyIsAsked(hasProvider: Bool) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: hasProvider ? desk.countingProvider() : nil)
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    try desk.logIn(as: "bob", on: line)
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["externalId"] == "bob")
    #expect(try line.call("instance.get", ["instance": "desk"])["pending"] == nil)
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    #expect(desk.runs("desk") == 0)
  }

  @Test func M2_aFailedLoginKeepsTheCurrentUser() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try desk.logIn(on: line)
    let forged = try Vendor.mint("alice", ttl: 3600, ["--secret", "not-the-secret-of-this-key-0000000000000"])
    let refused = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(forged)])
    #expect(refused.code == -32021)
    #expect(refused.reason == "invalidAuth")
    #expect(refused.data["httpStatus"] == 401)
    #expect(refused.data["vendorCode"] == "invalid_auth")
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try desk.eventTypes(on: line).filter { $0 == "authenticationFailed" }.count == 1)
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == .string(jwt))
  }

  @Test("The first session creates an anonymous user if there is no other")
  func M2_withoutAUserOneIsMadeByTheFirstSession() throws {
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
    #expect(try desk.state(on: line) == "anonymous")
    try desk.crash()
    let second = try desk.connect()
    let after = try second.call("session.open", ["instance": "desk"])
    #expect(after["user"]?["id"] == session["user"]?["id"])
    let created = try second.call("events.list", ["types": ["anonymousUserCreated"]])["events"]?.arrayValue ?? []
    #expect(created.map { $0["data"]?["user"]?["id"] } == [session["user"]?["id"]])
    #expect(try desk.vendor.count("POST", "/appusers") == 1)
  }

  @Test("A logout is sent to the vendor and clears everything")
  func M3_logoutTellsTheVendorAndClearsEverything() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == true)
    #expect(try desk.state(on: line) == "loggedOut")
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == false)
    #expect(try desk.vendor.count("POST", "/logout") == 1)
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test("A logout keeps everything if the vendor is down")
  func M3_logoutKeepsEverythingWhenTheVendorIsDown() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try desk.logIn(on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "status": 503, "times": 1])
    let down = try line.failure("messaging.logoutUser", ["instance": "desk"])
    #expect(down.reason == "serverError")
    #expect(down.isRetryable)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try next.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])["backendInformed"] == false)
    #expect(try desk.state(on: next) == "loggedOut")
  }

  @Test("A logout with an expired token runs the provider once")
  func M3_logoutWithADeadTokenAsksTheProviderOnce() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let counted =
      "echo run >> \(desk.folder.path)/runs; exec '\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""
    try desk.create("desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider(counted))
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == true)
    let runs = try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)
    #expect(runs == "run\n")
    #expect(try desk.vendor.count("POST", "/logout") == 1)
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test("A logout that the vendor refuses is completed locally")
  func M3_logoutThatTheVendorRefusesIsLocal() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try desk.vendor.revoke("alice")
    #expect(try line.call("messaging.logoutUser", ["instance": "desk"])["backendInformed"] == false)
    #expect(try desk.state(on: line) == "loggedOut")
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test func M8_anAnonymousUserIsMergedIntoTheOneWhoLogsIn() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    // The vendor already knows Alice.
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("alice"))])
    try desk.create("desk", on: line)
    let anonymous = try line.call("session.open", ["instance": "desk"])["user"]?["id"]?.stringValue ?? ""
    try desk.logIn(on: line)
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    #expect(user["id"]?.stringValue != anonymous)
    let merged = try line.call("events.list", ["types": ["userMerged"]])["events"]?.arrayValue?.last
    #expect(merged?["data"]?["from"] == .string(anonymous))
    #expect(merged?["data"]?["to"] == user["id"])
    #expect(merged?["data"]?["mode"] == "single")
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.user(on: next)["id"] == user["id"])
    #expect(try next.call("session.open", ["instance": "desk"])["mayMerge"] == false)
  }

  @Test("The event of a merge has the configured conversation mode")
  func M8_theModeOfTheMergeIsThatOfTheAccount() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("alice"))])
    try desk.create("desk", on: line, settings: ["conversation_mode": "multi"])
    try line.call("session.open", ["instance": "desk"])
    try desk.logIn(on: line)
    #expect(try desk.events("desk", on: line, "userMerged").first?["data"]?["mode"] == "multi")
  }

  @Test("A user new to the vendor keeps the anonymous user's id")
  func M8_aNewUserKeepsTheIdOfTheAnonymousOne() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let anonymous = try line.call("session.open", ["instance": "desk"])["user"]?["id"]
    let token = try line.call("token.get", ["instance": "desk"])["token"]
    try desk.logIn(on: line)
    #expect(try desk.user(on: line)["id"] == anonymous)
    #expect(try desk.events("desk", on: line, "userMerged").isEmpty)
    // The vendor ends the session of the anonymous user's token.
    #expect(try desk.vendor.messagingState()["endedSessions"]?.arrayValue == [token ?? .null])
  }

  @Test("The current user has the type of authentication")
  func M9_theCurrentUserSaysHowItIsKnown() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let nobody = try line.call("messaging.getCurrentUser", ["instance": "desk"])
    #expect(nobody["authenticationType"] == "unauthenticated")
    #expect(nobody["authenticated"] == false)
    try line.call("session.open", ["instance": "desk"])
    #expect(try line.call("messaging.getCurrentUser", ["instance": "desk"])["authenticationType"] == "sessionToken")
    try desk.logIn(on: line)
    #expect(try line.call("messaging.getCurrentUser", ["instance": "desk"])["authenticationType"] == "jwt")
    try desk.crash()
    let known = try desk.connect().call("messaging.getCurrentUser", ["instance": "desk"])
    #expect(known["authenticationType"] == "jwt")
    #expect(known["verified"] == true)
  }

  @Test func M10_twoInstancesNeverMix() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.mintingProvider())
    try desk.create("other", on: line)
    let alice = try desk.logIn(on: line)
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

  @Test("Without anonymous users, the session is invisible before the login")
  func M12_neverAnonymousShowsNothingBeforeTheLogin() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["anonymous": "never"])
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "notAuthenticated")
    #expect(try desk.vendor.log().isEmpty)
    try desk.logIn(on: line)
    let open = try line.call("session.open", ["instance": "desk"])
    #expect(open["visible"] == true)
    #expect(open["mayMerge"] == false)
  }
}
