import Foundation
import JSONRPC
import Testing

/// Messaging's realtime connection with Faye, a third-party Bayeux server.
@Suite struct CounterpartFayeTests {
  @Test("Faye's events arrive, and logout takes leave")
  func events() throws {
    let desk = try FayeDesk()
    let user = try desk.logIn()
    let subscription = desk.messages("/meta/subscribe").first
    #expect(subscription?["ext"] == ["appId", "appUserId", "jwt"])
    desk.merge(user, into: "survivor")
    try desk.waitForUser("survivor")
    try eventually("the survivor's channel is subscribed") {
      desk.messages("/meta/subscribe").last?["subscription"]?.stringValue?.hasSuffix("/survivor") == true
    }
    try desk.line.call("messaging.logoutUser", ["instance": "desk"])
    try eventually("the daemon takes leave") { desk.count("/meta/disconnect") >= 1 }
  }

  @Test("A merge that is published while the network is down arrives afterwards")
  func outage() throws {
    let desk = try FayeDesk()
    let user = try desk.logIn()
    try desk.cutWire()
    desk.merge(user, into: "survivor")
    try desk.wire.start()
    try desk.waitForUser("survivor")
    try eventually("the survivor's channel is subscribed") { desk.count("/meta/subscribe") == 3 }
    #expect(desk.count("/meta/handshake") == 2, "one for each user, and none for the outage")
    #expect(try desk.desk.events("desk", on: desk.line, "userMerged").count == 1)
  }

  @Test("A merge arrives although the network breaks again while the connection resumes")
  func brokenResumption() throws {
    let desk = try FayeDesk()
    let user = try desk.logIn()
    desk.faye.send(["close": "/meta/subscribe", "times": 2])
    try desk.cutWire()
    desk.merge(user, into: "survivor")
    try desk.wire.start()
    try desk.waitForUser("survivor")
    #expect(try desk.desk.events("desk", on: desk.line, "userMerged").count == 1)
  }

  @Test("A server that was restarted gets a new handshake and subscription, and nobody is asked for a token")
  func restart() throws {
    let desk = try FayeDesk(provider: { try $0.countingProvider() })
    let user = try desk.logIn()
    for _ in 1...2 {
      try desk.restartServer()
      try desk.waitForConnection()
      #expect(desk.count("/meta/handshake") == 1)
    }
    desk.merge(user, into: "survivor")
    try desk.waitForUser("survivor")
    #expect(desk.desk.runs("desk") == 0)
    #expect(try desk.desk.events("desk", on: desk.line, "authenticationFailed").isEmpty)
  }

  @Test("A daemon that was killed subscribes again")
  func crash() throws {
    let desk = try FayeDesk()
    let user = try desk.logIn()
    try desk.desk.crash()
    try eventually("there is a second subscription", within: 60) { desk.count("/meta/subscribe") == 2 }
    desk.merge(user, into: "survivor")
    let next = try desk.desk.connect()
    try eventually("the user is the survivor") { try desk.desk.user(on: next)["id"] == "survivor" }
  }

  @Test("Advice to shake hands again is obeyed on the same socket", arguments: [true, false])
  func handshakeAdvice(isSuccessful: Bool) throws {
    let desk = try FayeDesk()
    desk.faye.send([
      "answer": "/meta/connect",
      "with": ["successful": JSON.bool(isSuccessful), "advice": ["reconnect": "handshake", "interval": 0]],
    ])
    let user = try desk.logIn()
    #expect(desk.count("/meta/handshake") == 2)
    #expect(desk.count("/meta/subscribe") == 2)
    desk.merge(user, into: "survivor")
    try desk.waitForUser("survivor")
  }

  @Test("A merge arrives that is published while advised handshakes follow one another", arguments: 1...3)
  func mergeBetweenHandshakes(number: Int) throws {
    let desk = try FayeDesk()
    desk.faye.send([
      "answer": "/meta/connect", "with": ["advice": ["reconnect": "handshake", "interval": 0]], "times": 3,
    ])
    try desk.desk.logIn(on: desk.line)
    let user = try desk.desk.user(on: desk.line)["id"]?.stringValue ?? ""
    // The next handshake is due in a second, and Faye still delivers to the former client.
    try eventually("the connect request is answered") { desk.count("/meta/connect") == number }
    desk.merge(user, into: "survivor")
    try desk.waitForUser("survivor")
    #expect(try desk.desk.events("desk", on: desk.line, "userMerged").count == 1)
  }

  @Test("After the advice not to reconnect, only a new login connects")
  func noneAdvice() throws {
    let desk = try FayeDesk()
    desk.faye.send([
      "answer": "/meta/connect",
      "with": ["successful": false, "error": "403::Go away", "advice": ["reconnect": "none"]],
    ])
    try desk.desk.logIn(on: desk.line)
    try eventually("the connect request arrives") { desk.count("/meta/connect") == 1 }
    // Time for four connections at the pace of a reconnection.
    Thread.sleep(forTimeInterval: 4)
    #expect(desk.count("/meta/handshake") == 1)
    #expect(try desk.desk.state(on: desk.line) == "authenticated")
    _ = try desk.logIn()
    #expect(desk.count("/meta/handshake") == 2)
  }

  @Test("Events arrive while an advised interval has no connect request open")
  func interval() throws {
    let desk = try FayeDesk()
    desk.faye.send(["answer": "/meta/connect", "with": ["advice": ["reconnect": "retry", "interval": 60_000]]])
    try desk.desk.logIn(on: desk.line)
    try eventually("the first connect request arrives") { desk.count("/meta/connect") == 1 }
    let user = try #require(try desk.desk.user(on: desk.line)["id"]?.stringValue)
    // Time for the connect request that the advice forbids.
    Thread.sleep(forTimeInterval: 2)
    #expect(desk.count("/meta/connect") == 1)
    desk.merge(user, into: "survivor")
    try desk.waitForUser("survivor")
  }

  @Test("A refused subscription asks the provider once, a server that is ill does not")
  func refusals() throws {
    let desk = try FayeDesk(provider: { try $0.countingProvider() })
    desk.faye.send(["refuse": "/meta/subscribe", "error": "503::Overloaded"])
    _ = try desk.logIn()
    #expect(desk.desk.runs("desk") == 0)
    desk.faye.send(["refuse": "/meta/subscribe", "error": "403::Invalid JWT"])
    try desk.desk.logIn(on: desk.line)
    try eventually("the provider is asked", within: 60) { desk.desk.runs("desk") == 1 }
    try desk.waitForConnection()
    #expect(desk.desk.runs("desk") == 1)
    #expect(try desk.desk.state(on: desk.line) == "authenticated")
  }

  @Test("A client that Faye forgot on an open socket shakes hands again")
  func forgottenClient() throws {
    let desk = try FayeDesk(provider: { try $0.countingProvider() })
    let user = try desk.logIn()
    desk.faye.send(["forget": "all"])
    try eventually("there is a second handshake", within: 60) { desk.count("/meta/handshake") == 2 }
    try desk.waitForConnection()
    desk.merge(user, into: "survivor")
    try desk.waitForUser("survivor")
    #expect(desk.desk.runs("desk") == 0)
  }
}
