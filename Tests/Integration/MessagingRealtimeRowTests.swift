import Foundation
import JSONRPC
import Testing

/// The realtime socket of Messaging: live merges, refused subscriptions, losses.
@Suite struct MessagingRealtimeRowTests {
  // MARK: Live merges

  @Test("A live merge of anonymous users brings the surviving user's token")
  func M8_aLiveMergeOfAnonymousUsersBringsTheSurvivorsToken() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for id in ["desk", "other"] {
      try desk.create(id, on: line)
      try line.call("session.open", ["instance": .string(id)])
    }
    let former = try desk.waitForRealtime(on: line)
    let survivor = try desk.waitForRealtime("other", on: line)
    let token = try line.call("token.get", ["instance": "desk"])["token"]
    try desk.vendor.merge(former, into: survivor)
    try eventually("the instance speaks for the survivor") { try desk.user(on: line)["id"] == .string(survivor) }
    let fresh = try line.call("token.get", ["instance": "desk"])["token"]
    #expect(fresh != token)
    let sessions = try desk.vendor.messagingState()["sessions"]?.arrayValue ?? []
    #expect(sessions.contains { $0["appUserId"] == .string(survivor) && $0["sessionToken"] == fresh })
    let merged = try desk.events("desk", on: line, "userMerged")
    #expect(merged.count == 1)
    #expect(merged.first?["data"] == ["from": .string(former), "to": .string(survivor), "mode": "single"])
    try eventually("both listen as the survivor") { try desk.vendor.listeners() == [survivor, survivor] }
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == fresh)
    #expect(try desk.waitForRealtime(on: next) == survivor)
    #expect(try desk.state(on: next) == "anonymous")
  }

  @Test("The merge of an anonymous user into a known one logs the anonymous user out")
  func M8_anAnonymousUserWhoIsMergedIntoAKnownOneIsGone() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("alice"))])
    try desk.create("desk", on: line)
    let session = try line.call("session.open", ["instance": "desk"])
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "mine"])
    let former = try desk.waitForRealtime(on: line)
    try desk.vendor.merge(former, into: "alice")
    try eventually("the user is gone") { try desk.state(on: line) == "loggedOut" }
    #expect(try desk.user(on: line)["authenticated"] == false)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "notAuthenticated")
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == .null)
    #expect(try desk.eventTypes(on: line).suffix(3) == ["userMerged", "userLoggedOut", "identityWiped"])
    #expect(try desk.events("desk", on: line, "userLoggedOut").last?["data"]?["cause"] == "implicit")
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.state(on: next) == "loggedOut")
    let again = try next.call("session.open", ["instance": "desk"])
    #expect(again["visible"] == true)
    #expect(again["user"]?["id"] != session["user"]?["id"])
  }

  @Test("A merged user becomes the surviving user, with a new token from the provider")
  func M8_aMergedUserGoesOnAsTheSurvivorWithATokenOfTheirs() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    let bob = try line.call("instance.currentUser", ["instance": "other"])["id"]
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try desk.logIn(on: line)
    let former = try desk.waitForRealtime(on: line)
    try desk.vendor.merge("alice", into: "bob")
    try eventually("the instance speaks for the survivor") { try desk.user(on: line)["externalId"] == "bob" }
    #expect(try desk.user(on: line)["id"] == bob)
    // The former user's token is refused on the survivor's channel, so the provider is asked for a token of the
    // survivor.
    try eventually("both listen as the survivor") { try desk.vendor.listeners().count == 2 }
    #expect(Set(try desk.vendor.listeners()).count == 1)
    #expect(desk.runs("desk") == 1)
    #expect(try desk.state(on: line) == "authenticated")
    #expect(try desk.events("desk", on: line, "userMerged").first?["data"]?["from"] == .string(former))
    #expect(try desk.events("desk", on: line, "authenticationFailed").isEmpty)
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.user(on: next)["id"] == bob)
    #expect(try desk.state(on: next) == "authenticated")
    try eventually("both listen again") { try desk.vendor.listeners().count == 2 }
  }

  @Test("Without a provider, a merged user has to log in as the surviving user")
  func M8_aMergedUserWithoutAProviderHasToLogInAsTheSurvivor() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    try desk.vendor.merge("alice", into: "bob")
    try eventually("a new login is needed") { try desk.state(on: line) == "reauthNeeded" }
    #expect(try desk.user(on: line)["externalId"] == "bob")
    #expect(try desk.events("desk", on: line, "authenticationFailed").count == 1)
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.state(on: next) == "reauthNeeded")
    #expect(try desk.user(on: next)["externalId"] == "bob")
    try desk.logIn(as: "bob", on: next)
    try desk.waitForRealtime(on: next)
  }

  @Test("Malformed merge events and merges of other users are ignored")
  func M8_whatIsNoMergeOfThisUserIsIgnored() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    let user = try desk.waitForRealtime(on: line)
    func event(_ survivor: JSON, _ outgoing: String) -> JSON {
      ["type": "user:merge", "survivingAppUser": survivor, "outgoingAppUserId": .string(outgoing)]
    }
    let datas: [JSON] = [
      ["events": [event(["_id": .string(user)], user)]], ["events": [event(["_id": "x"], "somebody-else")]],
      ["events": [event(["_id": 7], user), event([:], user), ["type": "message"], .null]], 7, "text", [],
      ["events": [event(["_id": "survivor", "userId": "alice"], user)]],
    ]
    for data in datas {
      try desk.vendor.request(
        "POST", "/_push",
        ["to": "alice", "frame": [["channel": .string("/sdk/apps/\(Desk.app)/appusers/\(user)"), "data": data]]])
    }
    try eventually("the merge is followed") { try desk.user(on: line)["id"] == "survivor" }
    let merged = try desk.events("desk", on: line, "userMerged").compactMap { $0["data"]?["to"]?.stringValue }
    #expect(merged == ["survivor"])
  }

  @Test("A merge that was missed takes effect at the next renewal")
  func M8_aMergeThatNobodyHeardIsLearntAtTheNextRenewal() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["realtime": "off"], provider: try desk.countingProvider())
    try desk.logIn(as: "bob", on: line)
    try desk.logIn(on: line)
    let former = try desk.user(on: line)["id"]
    try desk.vendor.merge("alice", into: "bob")
    try line.call("token.refresh", ["instance": "desk"])
    // A login with an external id that the merge has discarded creates a new user.
    let user = try desk.user(on: line)
    #expect(user["externalId"] == "alice")
    #expect(user["id"] != former)
    #expect(try desk.state(on: line) == "authenticated")
    try desk.crash()
    #expect(try desk.user(on: try desk.connect())["id"] == user["id"])
  }

  @Test("A login succeeds if the vendor has merged the anonymous user into another user before")
  func M8_aLoginIsNotSpoiledByAnAnonymousUserWhoIsGone() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    try desk.create("desk", on: line, settings: ["realtime": "off"])
    let anonymous = try line.call("session.open", ["instance": "desk"])["user"]?["id"]?.stringValue ?? ""
    try desk.vendor.merge(anonymous, into: "bob")
    try desk.logIn(on: line)
    #expect(try desk.user(on: line)["externalId"] == "alice")
    #expect(try desk.events("desk", on: line, "userMerged").isEmpty)
    #expect(try desk.events("desk", on: line, "authenticationFailed").isEmpty)
  }

  // MARK: Refusals

  private func refuse(_ desk: Desk, times: JSON = 1, error: String = "403::Invalid JWT") throws {
    try desk.vendor.script([
      "route": "WS /zm/faye /meta/subscribe", "times": times,
      "reply": ["successful": false, "error": .string(error)],
    ])
  }

  private func subscriptions(_ desk: Desk) throws -> Int {
    try desk.vendor.realtimeLog().count { $0["body"]?.stringValue?.contains("/meta/subscribe") ?? false }
  }

  @Test("A refused subscription is repeated with a renewed token")
  func M6_aSubscriptionThatIsRefusedIsRenewedAndMadeAgain() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try refuse(desk)
    let first = try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    #expect(desk.runs("desk") == 1)
    let token = try line.call("token.get", ["instance": "desk"])["token"]
    #expect(token != .string(first))
    #expect(try desk.events("desk", on: line, "tokenRefreshed").count == 1)
    #expect(try desk.events("desk", on: line, "authenticationFailed").isEmpty)
    try desk.crash()
    let next = try desk.connect()
    try desk.waitForRealtime(on: next)
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == token)
    #expect(desk.runs("desk") == 1)
  }

  @Test("A subscription that is always refused runs the provider once")
  func M6_aSubscriptionThatIsRefusedForEverAsksTheProviderOnce() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try refuse(desk, times: "forever")
    try desk.logIn(on: line)
    try eventually("the second refusal is told") { desk.logs.contains("refuses the realtime connection again") }
    #expect(try subscriptions(desk) == 2)
    #expect(desk.runs("desk") == 1)
    #expect(try desk.state(on: line) == "authenticated")
    #expect(try line.call("session.open", ["instance": "desk"])["visible"] == true)
    #expect(try desk.events("desk", on: line, "authenticationFailed").isEmpty)
  }

  @Test("Without a delegate, a refused subscription makes the session invisible")
  func M7_aRefusedSubscriptionWithoutADelegateShowsNothing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try refuse(desk)
    try desk.logIn(on: line)
    try eventually("a new login is needed") { try desk.state(on: line) == "reauthNeeded" }
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "reauthNeeded")
    let failed = try desk.events("desk", on: line, "authenticationFailed")
    #expect(failed.count == 1)
    #expect(failed.first?["data"]?["vendorDescription"] == "Invalid JWT")
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.state(on: next) == "reauthNeeded")
    try desk.logIn(on: next)
    try desk.waitForRealtime(on: next)
  }

  @Test("An anonymous user is kept if the realtime subscription is refused")
  func M2_anAnonymousUserWhoseSubscriptionIsRefusedStays() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try refuse(desk)
    let session = try line.call("session.open", ["instance": "desk"])
    try eventually("the vendor is asked about the user") {
      try desk.vendor.log().contains { $0["method"] == "GET" && $0["status"] == 200 }
    }
    #expect(try desk.state(on: line) == "anonymous")
    #expect(try line.call("session.open", ["instance": "desk"])["user"]?["id"] == session["user"]?["id"])
    #expect(try subscriptions(desk) == 1)
  }

  @Test("A server error of the realtime service does not count as a refusal")
  func M6_aServerThatIsIllIsNoRefusal() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try desk.vendor.script(["route": "GET /zm/faye", "status": 503, "times": 1])
    try refuse(desk, error: "503::Overloaded")
    let token = try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    #expect(desk.runs("desk") == 0)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(token))
  }

  // MARK: When there is one

  @Test("The socket reconnects after a lost connection and after a restart")
  func M8_theSocketComesBackAfterALossAndARestart() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    let first = try subscriptions(desk)
    #expect(first == 1)
    try desk.vendor.request("POST", "/_close", ["sdk": "zm"])
    try eventually("it listens again") { try subscriptions(desk) == 2 && !desk.vendor.listeners().isEmpty }
    try desk.crash()
    try eventually("it listens again") { try subscriptions(desk) == 3 && !desk.vendor.listeners().isEmpty }
    #expect(try desk.state(on: try desk.connect()) == "authenticated")
  }

  @Test("A merge during an outage of the realtime service is received later")
  func M8_aMergeDuringAnOutageIsHeard() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    // The vendor has responded to the first `/meta/connect`, so it remembers the connection.
    try eventually("the next connect is held") {
      try desk.vendor.realtimeLog().count { $0["body"]?.stringValue?.contains("/meta/connect") ?? false } >= 2
    }
    try desk.vendor.script(["route": "GET /zm/faye", "status": 503, "times": "forever"])
    try desk.vendor.request("POST", "/_close", ["sdk": "zm"])
    try eventually("no socket is open") { try desk.vendor.openSockets() == 0 }
    try desk.vendor.merge("alice", into: "bob")
    try desk.vendor.clearScripts()
    try eventually("the instance speaks for the survivor", within: 30) {
      try desk.user(on: line)["externalId"] == "bob"
    }
    #expect(try desk.events("desk", on: line, "userMerged").count == 1)
  }

  @Test func M3_logoutClosesTheSocket() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    try line.call("messaging.logoutUser", ["instance": "desk"])
    try eventually("no socket is open") { try desk.vendor.openSockets() == 0 }
    try desk.crash()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
    #expect(try desk.vendor.openSockets() == 0)
    #expect(try subscriptions(desk) == 1)
  }

  @Test("The expiry of the token closes the socket")
  func M4_theEndOfATokenClosesTheSocket() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForRealtime(on: line)
    try eventually("the token has ended") { try desk.state(on: line) == "reauthNeeded" }
    try eventually("no socket is open") { try desk.vendor.openSockets() == 0 }
  }

  @Test("The realtime connection uses a renewed token")
  func M11_aRenewedTokenListensAnew() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    let fresh = try line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue ?? ""
    try eventually("the new token is shown") {
      try desk.vendor.realtimeLog().contains { $0["body"]?.stringValue?.contains(fresh) ?? false }
    }
    try eventually("one socket is open") { try desk.vendor.openSockets() == 1 && desk.vendor.listeners().count == 1 }
  }

  @Test("Each instance has its own realtime connection")
  func M10_eachInstanceListensForItself() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for (id, user) in [("desk", "alice"), ("other", "bob")] {
      try desk.create(id, on: line)
      try line.call("messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint(user))])
      try desk.waitForRealtime(id, on: line)
    }
    #expect(try desk.vendor.openSockets() == 2)
    try line.call("instance.delete", ["instance": "desk"])
    try eventually("one socket is left") { try desk.vendor.openSockets() == 1 }
    let bob = try line.call("instance.currentUser", ["instance": "other"])["id"]?.stringValue ?? ""
    #expect(try desk.vendor.listeners() == [bob])
  }

  @Test("The URL of the socket comes from the vendor or from the settings")
  func M10_theSocketIsWhereTheVendorOrTheSettingsSay() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    let endpoint = try line.call("session.open", ["instance": "desk"])["endpoint"]
    #expect(endpoint?["realtimeUrl"] == .string(try desk.vendor.base("zm", socket: true) + "/faye"))
    // No server listens at the new URL.
    try line.call(
      "instance.update", ["instance": "desk", "settings": ["realtime_url": "ws://127.0.0.1:1/elsewhere"]])
    try eventually("the socket of the vendor is closed") { try desk.vendor.openSockets() == 0 }
    let own = try line.call("session.open", ["instance": "desk"])["endpoint"]
    #expect(own?["realtimeUrl"] == "ws://127.0.0.1:1/elsewhere")
    try line.call("instance.update", ["instance": "desk", "settings": ["realtime_url": .null, "realtime": "off"]])
    #expect(try desk.vendor.openSockets() == 0)
    try line.call("instance.update", ["instance": "desk", "settings": ["realtime": .null]])
    try desk.waitForRealtime(on: line)
  }

  @Test(
    "No socket is opened if its URL is missing or not allowed, or realtime is disabled",
    arguments: [
      ["enabled": true, "baseUrl": "ws://example.com/faye"], ["enabled": true, "baseUrl": "http://192.168.0.1/faye"],
      ["enabled": true, "baseUrl": "wss://169.254.169.254/faye"], ["enabled": true, "baseUrl": "ftp://127.0.0.1/"],
      ["enabled": true, "baseUrl": 7], ["enabled": false, "baseUrl": "ws://127.0.0.1:1/faye"], [:], .null,
    ] as [JSON])
  func M10_aSocketWhereNoneMayBeIsNotOpened(realtime: JSON) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.vendor.script([
      "route": "POST /v2/apps/*/login", "times": 1,
      "body": ["appUser": ["_id": "a1"], "settings": ["realtime": realtime]],
    ])
    try desk.logIn(on: line)
    let user = try desk.user(on: line)
    #expect(user["id"] == "a1")
    #expect(try line.call("session.open", ["instance": "desk"])["endpoint"]?["realtimeUrl"] == nil)
    #expect(try desk.vendor.realtimeLog().isEmpty)
  }

  @Test("A stop with open sockets is quick, and no log or event contains a secret")
  func M10_aStopIsQuickWithOpenSocketsAndNothingSecretIsTold() throws {
    // A stop with open sockets must not wait for the grace of ten minutes.
    let desk = try Desk.open(configuration: "[shutdown]\ngrace = \"10m\"\n")
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try refuse(desk)
    let first = try desk.logIn(on: line)
    try desk.waitForRealtime(on: line)
    let token = try line.call("token.get", ["instance": "desk"])["token"]?.stringValue ?? ""
    let events = JSONWriter.text(of: .array(try desk.events("desk", on: line)))
    let began = Date()
    #expect(desk.stop() == 0)
    #expect(Date().timeIntervalSince(began) < 5)
    #expect(try desk.vendor.openSockets() == 0)
    for secret in [first, token] {
      #expect(!desk.logs.contains(secret))
      #expect(!events.contains(secret))
    }
  }
}
