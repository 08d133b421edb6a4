import Foundation
import JSONRPC
import Testing

/// What a connection sees after its `chatCenter.authorize` of another user was accepted: never the former user.
@Suite struct AcceptedLoginTests {
  /// A desk with a signed-in user, unless `isFirst`, and with stored data; the next login takes a while at the vendor.
  private func desk(isFirst: Bool = false, fails: Bool = false) throws -> EdnaDesk {
    let desk = try EdnaDesk()
    if !isFirst {
      try desk.authorize("u-alice", auth: ["token": "t-alice"])
      try desk.call("storage.put", ["key": "draft", "value": "alice's"])
      try desk.call("push.register", ["endpoint": ["address": "push-of-alice", "type": "fcm"]])
    }
    let end: JSONObject = fails ? ["status": 503] : ["passThrough": true]
    try desk.script("/api/chat/config", end.merged(with: ["delayMs": 400]))
    return desk
  }

  private static let calls: [(method: String, params: JSONObject)] = [
    ("token.get", ["http": true]), ("token.get", [:]), ("session.open", [:]), ("chatCenter.getChat", [:]),
    ("instance.currentUser", [:]), ("storage.get", ["key": "draft"]), ("storage.list", [:]), ("push.list", [:]),
    ("storage.put", ["key": "draft", "value": "bob's"]), ("storage.delete", ["key": "draft"]),
  ]

  @Test(
    "After an accepted login, calls on its connection concern the new user", arguments: calls.indices, [true, false])
  func E1_callsAfterAnAcceptedLoginConcernTheNewUser(index: Int, isFirst: Bool) throws {
    let (method, params) = Self.calls[index]
    let desk = try desk(isFirst: isFirst)
    let operation = try desk.begin("u-bob", auth: ["token": "t-bob"])
    let answer = JSONWriter.text(of: try desk.line.call(method, desk.params(params)))
    #expect(!answer.contains("alice"))
    #expect(try desk.events("userLoggedIn").last?["operation"] == .string(operation))
    if method == "storage.put" {
      #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "bob's")
      try desk.crash()
      #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "bob's")
    }
    if method.hasPrefix("token") { #expect(answer.contains("t-bob")) }
  }

  @Test("If the login fails, the calls that waited for it fail alike and change nothing", arguments: calls.indices)
  func E1_callsThatWaitedForAFailedLoginFailAndChangeNothing(index: Int) throws {
    let (method, params) = Self.calls[index]
    let desk = try desk(fails: true)
    let operation = try desk.begin("u-bob")
    #expect(try desk.line.failure(method, desk.params(params)).reason == "serverError")
    #expect(try desk.outcome(of: operation)["type"] == "networkError")
    // Later calls concern the user who is still signed in.
    #expect(try desk.externalId == "u-alice")
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == "alice's")
  }

  @Test("Other connections see the former user until the vendor has accepted the next one")
  func E1_otherConnectionsKeepTheFormerUserUntilTheLoginIsAccepted() throws {
    let desk = try desk()
    let other = try desk.desk.connect()
    let operation = try desk.begin("u-bob")
    #expect(try other.call("token.get", desk.params())["token"] == "t-alice")
    #expect(try other.call("storage.get", desk.params(["key": "draft"]))["value"] == "alice's")
    #expect(try desk.call("instance.get")["state"] == "authenticating", "the state is not held back")
    try eventually("the login has ended") { try desk.events("userLoggedIn").last?["operation"] == .string(operation) }
    #expect(try other.call("instance.currentUser", desk.params())["externalId"] == "u-bob")
  }

  @Test("The time limit of a call includes the wait for an accepted login")
  func E1_theTimeLimitIncludesTheWaitForTheLogin() throws {
    let desk = try desk()
    _ = try desk.begin("u-bob")
    #expect(try desk.failure("token.get", ["timeout": 0.05]).reason == "timeout")
  }

  @Test("A logout does not wait for calls that wait for an accepted login")
  func E1_aLogoutDoesNotWaitForCallsThatWaitForALogin() throws {
    let desk = try EdnaDesk()
    try desk.script("/api/chat/config", ["hang": true])
    let login = try desk.begin("u-bob")
    let put = desk.line.begin("storage.put", desk.params(["key": "draft", "value": "bob's"]))
    let logout = try #require(try desk.call("logout")["operation"]?.stringValue)
    #expect(try desk.line.answer(put)["error"]?["data"]?["reason"] == "superseded")
    let events = [try desk.outcome(of: login), try desk.outcome(of: logout)]
    #expect(events.map { $0["type"] } == ["loginSuperseded", "loginSuperseded"])
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    #expect(try desk.events("userLoggedOut").isEmpty, "nobody was reported in")
  }

  /// The calls that end an accepted login, and how the event names them.
  private static let enders: [(method: String, params: JSONObject, name: String)] = [
    ("chatCenter.logout", [:], "logout"), ("chatCenter.deauthorizeUser", [:], "deauthorize"),
    ("chatCenter.authorize", EdnaDesk.user("u-carol"), "login"),
  ]

  @Test(
    "An app's own later call ends an accepted login with loginSuperseded", arguments: enders.indices, [true, false])
  func E1_theAppsOwnLaterCallIsNoFailedAuthentication(index: Int, isFirst: Bool) throws {
    let (method, params, name) = Self.enders[index]
    let desk = try desk(isFirst: isFirst)
    let operation = try desk.begin("u-bob")
    let later = try desk.line.call(method, desk.params(params))
    let event = try desk.outcome(of: operation)
    #expect(event["type"] == "loginSuperseded")
    #expect(event["data"] == ["operation": .string(operation), "by": .string(name)])
    if let next = later["operation"]?.stringValue {
      _ = try desk.outcome(of: next)
      let terminal = try desk.events().filter {
        $0["operation"]?.stringValue == next && $0["data"]?["cause"] != "switch"
      }
      #expect(terminal.count == 1)
    }
    #expect(try desk.events("authenticationFailed").isEmpty)
    let gone = try desk.events("userLoggedOut").map { $0["data"]?["user"]?["externalId"] }
    #expect(gone.count == (isFirst ? 0 : 1))
  }
}
