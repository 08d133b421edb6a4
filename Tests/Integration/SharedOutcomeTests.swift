import Foundation
import JSONRPC
import Testing

/// Calls that ask for the same thing at once share its outcome, and no change waits for a person or a registration.
@Suite struct SharedOutcomeTests {
  @Test(
    "The same login twice at once is one login, and both callers get its user",
    arguments: [KindSample.messaging, .support])
  func R1_theSameLoginTwiceAtOnceIsOneLogin(sample: KindSample) throws {
    let desk = try Desk.open()
    let lines = [try desk.connect(), try desk.connect()]
    try desk.create("desk", sample, user: "alice", on: lines[0])
    try desk.vendor.script(["route": .string(try #require(sample.exchange)), "delayMs": 500, "passThrough": true])
    let (method, params) = try sample.signIn(desk.vendor, "desk", "alice")
    let calls = lines.map { ($0, $0.begin(method, .object(params))) }
    for (line, call) in calls { #expect(try line.answer(call)["error"] == nil) }
    #expect(try desk.events("desk", on: lines[0], "userLoggedIn").count == 1)
  }

  @Test("The same Salesforce settings twice at once are one login, and both callers get their user")
  func R1_theSameSettingsTwiceAtOnceAreOneLogin() throws {
    let desk = try ServiceDesk()
    try desk.signIn("alice")
    let bob = try desk.grant("bob")
    var settings = try #require(ServiceDesk.settings(bob).objectValue)
    settings["identityUrl"] = nil
    try desk.vendor.script(["route": ServiceDesk.userInfo, "delayMs": 500, "passThrough": true])
    let lines = [desk.line, try desk.desk.connect()]
    let calls = lines.map {
      $0.begin("serviceChat.setAuthenticationSettings", desk.params("chat", ["settings": .object(settings)]))
    }
    for (line, call) in zip(lines, calls) {
      #expect(try line.answer(call)["error"] == nil)
      let user = try line.call("instance.currentUser", desk.params())
      #expect(user["id"]?.stringValue == ServiceDesk.userId(bob))
    }
    #expect(try desk.vendor.count("GET", "/userinfo") == 1)
  }

  @Test("Two identities without a token at once ask one question, and both are set")
  func S10_twoIdentitiesWithoutTokenAskOneQuestion() throws {
    let desk = try Desk.open()
    let lines = [try desk.connect(), try desk.connect()]
    try desk.create("desk", .support, user: "alice", on: lines[0])
    _ = try desk.provider(
      "echo run >> '\(desk.folder.path)/runs-desk'; sleep 0.6; echo '{\"uniqueId\": \"alice:one\"}'",
      name: "provider-desk")
    let params: JSON = ["instance": "desk", "identity": ["type": "jwt"]]
    let first = lines[0].begin("support.setIdentity", params)
    try eventually("the question is asked") { desk.runs("desk") == 1 }
    let second = lines[1].begin("support.setIdentity", params)
    #expect(try lines[0].answer(first)["error"] == nil)
    #expect(try lines[1].answer(second)["error"] == nil)
    #expect(desk.runs("desk") == 1)
    #expect(try desk.state(of: "desk", on: lines[0]) == "authenticated")
  }

  @Test("The same Support identity after a lock changes nothing but the lock")
  func S6_theSameIdentityAfterALockIsNoChange() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", .support, user: "alice", on: line)
    let (method, params) = try KindSample.support.signIn(desk.vendor, "desk", "alice")
    #expect(try line.call(method, .object(params))["changed"] == true)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "mine"])
    try desk.vendor.script(["route": "/**", "status": 401, "times": "forever"])
    let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
    try line.call("token.reject", ["instance": "desk", "tokenId": id, "status": 401])
    _ = try? line.call("token.get", ["instance": "desk"])
    try eventually("the identity is locked") { try desk.state(of: "desk", on: line) == "locked" }
    try desk.vendor.clearScripts()
    #expect(try line.call(method, .object(params))["changed"] == false)
    #expect(try desk.state(of: "desk", on: line) == "authenticated")
    #expect(try desk.events("desk", on: line, "identityChanged").count == 1)
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "mine")
  }

  /// The changes that another connection makes while a registration waits.
  private static let changes: [(method: String, params: JSON)] = [
    ("storage.put", ["instance": "desk", "key": "draft", "value": 1]),
    ("instance.update", ["instance": "desk", "labels": ["floor": "1"]]),
    ("serviceChat.setAuthenticationSettings", ["instance": "desk", "service": "chat", "settings": .null]),
    ("serviceChat.setAuthenticationSettings", ["instance": "desk", "service": "cases", "settings": .null]),
  ]

  @Test("No change waits while a person is asked for a registration", arguments: changes.indices, [true, false])
  func R17_noChangeWaitsWhileAPersonIsAsked(index: Int, isOnTheSameConnection: Bool) throws {
    let desk = try ServiceDesk()
    let delegate = try desk.desk.connect()
    try delegate.call("delegate.attach", ["instances": ["desk"], "timeout": 30])
    let endpoint: JSONObject = ["endpoint": ["address": "push-1", "type": "fcm"]]
    desk.line.begin("serviceChat.registerForPushNotifications", desk.params("chat", endpoint))
    _ = try delegate.notification("delegate.shouldAuthenticate")
    let (method, params) = Self.changes[index]
    let line = isOnTheSameConnection ? desk.line : try desk.desk.connect()
    // The delegate never answers, so a change that waits for it fails here.
    try line.call(method, params, within: 10)
  }

  /// The changes that another connection makes while the vendor does not answer a registration.
  enum Change: String, CaseIterable { case put, label, logout, login }

  @Test(
    "No change waits for a vendor that is slow to answer a registration",
    arguments: KindSample.all.filter { $0.unansweredPush != nil }, Change.allCases)
  func R17_noChangeWaitsForASlowRegistration(sample: KindSample, change: Change) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", sample, user: "alice", on: line, settings: ["timeout": 60])
    try desk.signIn("desk", sample, as: "alice", on: line)
    let before = try desk.vendor.log().count
    try desk.vendor.script(try #require(sample.unansweredPush))
    line.begin("push.register", ["instance": "desk", "endpoint": ["address": "push-1", "type": "fcm"]])
    try eventually("the registration is on its way") { try desk.vendor.log().count > before }
    let (method, params): (String, JSONObject) =
      switch change {
      case .put: ("storage.put", ["instance": "desk", "key": "draft", "value": 1])
      case .label: ("instance.update", ["instance": "desk", "labels": ["floor": "1"]])
      case .logout: sample.signOut("desk")
      case .login: try sample.signIn(desk.vendor, "desk", "bob")
      }
    try desk.connect().call(method, .object(params), within: 10)
  }

  @Test("A push registration belongs to the user again after a PIN screen, and is sent to the vendor")
  func E8_aPushRegistrationSurvivesAPINScreen() throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    let id = try desk.call("push.register", ["endpoint": ["address": "push-1", "type": "fcm"]])["id"]
    try desk.call("deauthorizeUser")
    #expect(try desk.call("push.list")["pushes"]?.arrayValue?.first?["orphaned"] == true)
    let before = try desk.frames("updateDevice").count
    try desk.authorize("u-1")
    let list = try desk.call("push.list")["pushes"]
    #expect(list?.arrayValue?.first?["orphaned"] == false)
    #expect(list?.arrayValue?.first?["id"] == id)
    try eventually("the vendor gets the address again") {
      try desk.frames("updateDevice").dropFirst(before).contains { $0["pnsPushAddress"] == "push-1" }
    }
    #expect(try desk.events("pushUnregistered").isEmpty)
    let registered = try desk.frames("updateDevice").count
    try desk.vendor.request("POST", "/_close", [:])
    try eventually("a new connection has the address too") {
      try desk.frames("updateDevice").dropFirst(registered).contains { $0["pnsPushAddress"] == "push-1" }
    }
  }
}
