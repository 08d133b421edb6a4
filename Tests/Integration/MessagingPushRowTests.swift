import Foundation
import JSONRPC
import Testing

/// Push at Messaging's backend, and the requests in a user's name that the vendor refuses.
@Suite struct MessagingPushRowTests {
  @discardableResult
  private func register(_ address: String, on line: Line) throws -> JSON {
    try line.call(
      "push.register", ["instance": "desk", "endpoint": ["address": .string(address), "type": "fcm"]])
  }

  private func pushes(_ line: Line) throws -> [JSON] {
    try line.call("push.list", ["instance": "desk"])["pushes"]?.arrayValue ?? []
  }

  private func pending(_ line: Line) throws -> [JSON] {
    try line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? []
  }

  @Test("Push is registered for the instance's own client")
  func M10_pushIsRegisteredForTheInstancesOwnClient() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["integration_id": "5f0000000000000000000002"])
    try desk.logIn(on: line)
    let id = try register("address-one", on: line)["id"] ?? .null
    let client = try desk.vendor.client()
    let endpoint = try line.call("session.open", ["instance": "desk"])["endpoint"]
    #expect(client["id"] == endpoint?["clientId"])
    #expect(client["userId"] == (try desk.user(on: line)["id"]))
    #expect(client["integrationId"] == "5f0000000000000000000002")
    #expect(client["pushNotificationToken"] == "address-one")
    // Another address replaces the former one with one request.
    let before = try desk.vendor.log().count
    let next = try register("address-two", on: line)["id"] ?? .null
    #expect(next != id)
    #expect(try desk.vendor.log().count == before + 1)
    try desk.crash()
    let after = try desk.connect()
    #expect(try pushes(after).map { $0["id"] } == [next])
    #expect(try pushes(after).first?["user"]?["externalId"] == "alice")
    #expect(!JSONWriter.text(of: .array(try pushes(after))).contains("address-two"))
    try after.call("push.unregister", ["instance": "desk", "id": next])
    #expect(try desk.vendor.client()["pushNotificationToken"] == nil)
    #expect(try pushes(after).isEmpty)
    #expect(!desk.logs.contains("address-"))
  }

  @Test("A logout ends push at the vendor without an extra request")
  func M3_logoutEndsThePushAtTheVendorWithoutARequestOfItsOwn() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try register("address-one", on: line)
    try line.call("messaging.logoutUser", ["instance": "desk"])
    #expect(try desk.vendor.calls().suffix(1) == ["POST logout 200"])
    #expect(try desk.vendor.messagingState()["clients"]?.arrayValue?.isEmpty == true)
    try desk.crash()
    let next = try desk.connect()
    #expect(try pushes(next).isEmpty)
    #expect(try pending(next).isEmpty)
    #expect(try desk.events("desk", on: next, "pushUnregistered").count == 1)
  }

  @Test("A late login's delayed logout does not take the present user's push registration along")
  func M10_aDelayedLogoutOfALateLoginKeepsThePushRegistration() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try register("address-one", on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "delayMs": 1200, "passThrough": true])
    // The late login can't be undone at once, and the registration that it replaced can't be made again yet.
    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "status": 503])
    try desk.vendor.script(["route": "PUT /v2/apps/*/appusers/*/clients/*", "status": 503])
    line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    try eventually("the login is on its way") { try desk.vendor.count("POST", "/login") == 2 }
    try desk.logIn(ttl: 3000, on: line)
    try eventually("the late login was not undone") { try desk.vendor.calls().contains("POST logout 503") }
    try eventually("it is undone later") { try desk.vendor.calls().contains("POST logout 200") }
    try eventually("the registration is made again") {
      (try? desk.vendor.client())?["pushNotificationToken"] == "address-one"
    }
    #expect(try pushes(line).count == 1)
    #expect(try desk.user(on: line)["externalId"] == "alice")
  }

  @Test("A local logout removes the push registration later, even after a restart")
  func M3_aLocalLogoutRemovesThePushLaterAlsoAfterARestart() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["anonymous": "never"])
    let token = try desk.logIn(on: line)
    try register("address-one", on: line)
    try desk.vendor.script(["route": "PUT /v2/apps/*/appusers/*/clients/*", "status": 503, "times": "forever"])
    try line.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])
    #expect(try pushes(line).isEmpty)
    #expect(try pending(line).map { $0["purpose"] } == ["unregisterPush"])
    #expect(!JSONWriter.text(of: .array(try pending(line))).contains(token))
    try desk.crash()
    let next = try desk.connect()
    #expect(try pending(next).count == 1)
    #expect(try desk.vendor.client()["pushNotificationToken"] == "address-one")
    try desk.vendor.clearScripts()
    try eventually("the push is removed", within: 30) { try pending(next).isEmpty }
    #expect(try desk.vendor.client()["pushNotificationToken"] == nil)
    #expect(!desk.logs.contains(token))
  }

  @Test("A login cancels the pending removal of the former user's push registration")
  func M1_aNewUserMakesTheRemovalOfTheFormerOnesPushVoid() throws {
    let desk = try Desk.open()
    var line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try register("address-one", on: line)
    try desk.vendor.script(["route": "PUT /v2/apps/*/appusers/*/clients/*", "status": 503, "times": "forever"])
    try line.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])
    #expect(try pending(line).count == 1)
    #expect(try desk.vendor.client()["pushNotificationToken"] == "address-one")
    try desk.crash()
    line = try desk.connect()
    try desk.logIn(as: "bob", on: line)
    #expect(try pending(line).isEmpty)
    #expect(try desk.vendor.client()["pushNotificationToken"] == nil)
    try desk.vendor.clearScripts()
    try register("address-two", on: line)
    try desk.crash()
    let next = try desk.connect()
    #expect(try pending(next).isEmpty)
    let client = try desk.vendor.client()
    #expect(client["userId"] == (try desk.user(on: next)["id"]))
    #expect(client["pushNotificationToken"] == "address-two")
  }

  @Test("An anonymous user does not inherit the push registration of a user who was logged out locally")
  func M1_anAnonymousUserDoesNotInheritThePush() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try register("address-one", on: line)
    try desk.vendor.script(["route": "PUT /v2/apps/*/appusers/*/clients/*", "status": 503, "times": "forever"])
    try line.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])
    try line.call("session.open", ["instance": "desk"])
    let client = try desk.vendor.client()
    #expect(client["userId"] == (try desk.user(on: line)["id"]))
    #expect(client["pushNotificationToken"] == nil)
  }

  @Test("An anonymous user's push registration is kept through the login")
  func M8_thePushOfAnAnonymousUserStaysThroughTheLogin() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("session.open", ["instance": "desk"])
    try register("address-one", on: line)
    try desk.logIn(on: line)
    #expect(try pushes(line).count == 1)
    let client = try desk.vendor.client()
    #expect(client["pushNotificationToken"] == "address-one")
    #expect(client["userId"] == (try desk.user(on: line)["id"]))
  }

  // MARK: Refused requests

  private let route: JSONObject = ["route": "PUT /v2/apps/*/appusers/*/clients/*"]

  @Test func M6_aRequestInFlightIsReplayedOnceWithTheRenewedToken() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    let first = try desk.logIn(on: line)
    try desk.vendor.script(.object(route.merged(with: ["status": 401, "times": 1])))
    try register("address-one", on: line)
    #expect(desk.runs("desk") == 1)
    let token = try line.call("token.get", ["instance": "desk"])["token"]
    #expect(token != .string(first))
    let puts = try desk.vendor.log().filter { $0["method"] == "PUT" }
    #expect(puts.compactMap { $0["status"]?.intValue } == [401, 200])
    let types = try desk.eventTypes(on: line)
    #expect(types.count { $0 == "tokenRefreshed" } == 1)
    #expect(!types.contains("authenticationFailed"))
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == token)
  }

  @Test("A request that is refused twice fails, and the user stays")
  func M6_aRequestThatIsRefusedTwiceHasFailedAndTheUserStays() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    try desk.logIn(on: line)
    try desk.vendor.script(.object(route.merged(with: ["status": 401, "times": "forever"])))
    let error = try line.failure(
      "push.register", ["instance": "desk", "endpoint": ["address": "a", "type": "fcm"]])
    #expect(error.reason == "invalidAuth")
    #expect(try desk.vendor.log().count { $0["method"] == "PUT" } == 2)
    #expect(desk.runs("desk") == 1)
    #expect(try desk.state(on: line) == "authenticated")
    try desk.crash()
    let next = try desk.connect()
    #expect(try desk.state(on: next) == "authenticated")
    #expect(try pushes(next).isEmpty)
  }

  @Test("Without a delegate, a refused request makes a new login necessary")
  func M7_aRefusedRequestWithoutADelegateNeedsANewLogin() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try desk.vendor.script(.object(route.merged(with: ["status": 401, "times": 1])))
    let error = try line.failure(
      "push.register", ["instance": "desk", "endpoint": ["address": "a", "type": "fcm"]])
    #expect(error.reason == "invalidAuth")
    #expect(try desk.state(on: line) == "reauthNeeded")
    #expect(try desk.events("desk", on: line, "authenticationFailed").count == 1)
  }

  @Test("A request that gets a 403 is sent again after a silent login")
  func M6_aForbiddenRequestIsSentOnceMoreAfterASilentAuthentication() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    let token = try desk.logIn(on: line)
    try desk.vendor.script(.object(route.merged(with: ["status": 403, "times": 1])))
    try register("address-one", on: line)
    let client = try desk.vendor.client()["id"]?.stringValue ?? ""
    #expect(
      try desk.vendor.calls() == ["POST login 200", "PUT \(client) 403", "POST login 200", "PUT \(client) 200"])
    #expect(desk.runs("desk") == 0)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(token))
  }

  @Test("A request that gets a 403 twice fails, and the user stays")
  func M6_aRequestThatIsForbiddenTwiceHasFailedAndTheUserStays() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, provider: try desk.countingProvider())
    let token = try desk.logIn(on: line)
    try desk.vendor.script(.object(route.merged(with: ["status": 403, "times": "forever"])))
    let error = try line.failure(
      "push.register", ["instance": "desk", "endpoint": ["address": "a", "type": "fcm"]])
    #expect(error.code == -32021)
    #expect(error.reason == "forbidden")
    #expect(try desk.vendor.log().count { $0["method"] == "PUT" } == 2)
    #expect(desk.runs("desk") == 0)
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "desk"])["token"] == .string(token))
  }
}
