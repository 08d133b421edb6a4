import Foundation
import JSONRPC
import Testing

/// A vendor that misbehaves: the error has a reason, the user stays signed in, and no provider runs.
@Suite struct VendorFailureTests {
  private static let scripts: [(script: JSON, reason: String)] = [
    (["status": 500], "serverError"),
    (["status": 503, "body": "down"], "serverError"),
    (["status": 429, "headers": ["Retry-After": "7"]], "rateLimited"),
    (["status": 200, "body": "<html>no json</html>", "contentType": "text/html"], "badResponse"),
    (["status": 302, "headers": ["Location": "http://127.0.0.1:1/"]], "badResponse"),
    (["closeMidBody": true], "network"),
    (["hang": true], "timeout"),
  ]

  @Test(arguments: scripts)
  func aLoginSaysWhatIsWrongAndKeepsTheUser(script: JSON, reason: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["timeout": "1s"], provider: try desk.provider("touch asked; exit 1"))
    let jwt = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    let route: JSONObject = ["route": "POST /v2/apps/*/login", "times": 1]
    try desk.vendor.script(.object(route.merged(with: script.objectValue ?? [:])))
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(error.code == -32030)
    #expect(error.reason == reason)
    let isRedirect = script["status"] == 302
    #expect(error.isRetryable == !isRedirect)
    if isRedirect { #expect(error.message.contains("http://127.0.0.1:1"), "\(error.message)") }
    if reason == "rateLimited" { #expect(error.data["retryAfter"] == 7) }
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    let events = try line.call("events.list")["events"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
    #expect(events.contains("networkError"))
    #expect(!events.contains("authenticationFailed"))
    try desk.vendor.clearScripts()
  }

  @Test func aVendorThatIsNotThere() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["base_url": "http://127.0.0.1:1/zm"])
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(error.reason == "network")
    #expect(try line.call("instance.get", ["instance": "desk"])["state"] == "noUser")
  }

  @Test func plainHTTPIsForLoopbackOnly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for url in [
      "http://example.com/zm", "ftp://example.com", "example.com", "http://127.0.0.1.example.com/", "https://u@x",
    ] {
      let error = try line.failure(
        "instance.create",
        ["instance": "x", "kind": "zendesk.messaging", "settings": ["base_url": .string(url), "app_id": "a"]])
      #expect(error.code == -32602, "\(url)")
      #expect(error.data["member"] == "settings.base_url")
    }
  }

  @Test func aNewerLoginSupersedesOneThatHangs() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "times": 1, "hang": true])
    let first = line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    _ = try desk.vendor.log(atLeast: 1)
    let bob = try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    #expect(bob["externalId"] == "bob")
    #expect(try line.answer(first)["error"]?["data"]?["reason"] == "superseded")
    try desk.vendor.clearScripts()
  }

  @Test func aLoginThatSucceedsTooLateIsUndoneAtTheVendor() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.vendor.script(
      ["route": "POST /v2/apps/*/login", "times": 1, "passThrough": true, "delayMs": 700])
    let first = line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    _ = try desk.vendor.log(atLeast: 1)
    try line.call("messaging.logoutUser", ["instance": "desk"])
    #expect(try line.answer(first)["error"]?["data"]?["reason"] == "superseded")
    try eventually("the late login is undone") { try desk.vendor.count("POST", "/logout") == 1 }
    #expect(try line.call("instance.get", ["instance": "desk"])["state"] == "noUser")
    try desk.crash()
    #expect(try desk.connect().call("instance.get", ["instance": "desk"])["state"] == "noUser")
  }
}
