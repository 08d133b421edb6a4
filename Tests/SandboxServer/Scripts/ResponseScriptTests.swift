import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// Scripts set by `POST /_control`, and their effect on the requests that they match.
struct ResponseScriptTests {
  let sandbox = TestSandbox()
  let login = "\(TestSandbox.app)/login"

  func script(_ tree: JSON) async throws {
    let response = try await sandbox.send("POST", "/_control", tree)
    #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
  }

  @Test func `Scripts of a route are used up in order, then the real thing is back`() async throws {
    try await script([
      ["route": "POST /v2/apps/*/login", "status": 401, "times": 2],
      [
        "route": "/v2/apps/*/login", "method": "POST", "status": 503, "body": "<h1>busy</h1>",
        "contentType": "text/html",
      ],
      ["route": "/v2/apps/*/login", "body": .null],
    ])
    var seen: [Int] = []
    var last = SandboxResponse(0)
    for _ in 1...3 {
      last = try await sandbox.login(sandbox.token("alice"))
      seen.append(last.status)
    }
    #expect(seen == [401, 401, 503])
    #expect(String(decoding: last.body, as: UTF8.self) == "<h1>busy</h1>")
    #expect(last.headers["Content-Type"] == ["text/html"])
    let empty = try await sandbox.login(sandbox.token("alice"))
    #expect(empty.status == 200)
    #expect(empty.body.isEmpty)
    #expect(try await sandbox.login(sandbox.token("alice")).userID != nil)
  }

  @Test func `An error without a body is the vendor's own`() async throws {
    try await script(["route": "/**", "status": 401])
    #expect(try await sandbox.login(sandbox.token("alice")).isInvalidAuth)
    try await script(["route": "/**", "status": 429])
    #expect(try await sandbox.login(sandbox.token("alice")).tree?["error"]?["code"] == "too_many_requests")
    try await script(["route": "/**", "status": 401, "body": ""])
    #expect(try await sandbox.login(sandbox.token("alice")).body.isEmpty)
  }

  @Test func `For ever lasts until it is cleared`() async throws {
    try await script(["route": "/zm/**", "status": 500, "times": "forever"])
    for _ in 1...5 { #expect(try await sandbox.login(sandbox.token("alice")).status == 500) }
    let pending = try await sandbox.send("GET", "/_control").tree
    #expect(pending?["pending"] == [["route": "/zm/**", "status": 500, "times": "forever"]])
    #expect(try await sandbox.send("DELETE", "/_control").tree == ["pending": [], "held": 0])
    #expect(try await sandbox.login(sandbox.token("alice")).status == 200)
  }

  @Test func `Headers are added, to the real response too`() async throws {
    try await script([
      "route": "/**", "passThrough": true, "headers": ["Retry-After": "7", "Date": "x", "Set-Cookie": ["a=1", "b=2"]],
    ])
    let response = try await sandbox.login(sandbox.token("alice"))
    #expect(response.userID != nil)
    #expect(response.headers["Retry-After"] == ["7"])
    #expect(response.headers["Date"] == ["x"])
    #expect(response.headers["Set-Cookie"] == ["a=1", "b=2"])
  }

  @Test func `A cut pass-through has been done all the same`() async throws {
    try await script(["route": "/**", "passThrough": true, "closeMidBody": true])
    guard case .cut = await sandbox.reply("POST", "\(TestSandbox.app)/appusers", [:]) else {
      Issue.record("not cut")
      return
    }
    guard case .array(let users)? = try await sandbox.send("GET", "/_state").tree?["zm"]?["users"] else { return }
    #expect(users.count == 1)
  }

  @Test func `A delayed request is done after the delay and let go by clearing`() async throws {
    try await script(["route": "/**", "passThrough": true, "delayMs": 600_000])
    async let delayed = sandbox.login(sandbox.token("alice", ttl: 60))
    _ = try await sandbox.send("GET", "/_log?count=1&waitMs=10000")
    #expect(try await sandbox.send("GET", "/_state").tree?["zm"]?["users"] == [])
    sandbox.clock.advance(by: 60)
    while try await sandbox.send("GET", "/_control").tree?["held"] != 1 { await Task.yield() }
    _ = try await sandbox.send("DELETE", "/_control")
    #expect(try await delayed.isInvalidAuth)
  }

  @Test func `A hanging request holds nobody up and is dropped by clearing`() async throws {
    try await script(["route": "/**", "hang": true])
    async let hanging = sandbox.reply("POST", login, [:])
    _ = try await sandbox.send("GET", "/_log?count=1&waitMs=10000")
    #expect(try await sandbox.login(sandbox.token("alice")).status == 200)
    while try await sandbox.send("GET", "/_control").tree?["held"] != 1 { await Task.yield() }
    _ = try await sandbox.send("DELETE", "/_control")
    #expect(await hanging == .drop)
  }

  @Test(
    arguments: [
      (["status": 401], "route"), (["route": 5], "route"), (["route": "/x", "tims": 1], "tims"),
      (["route": "/x", "times": 0], "times"), (["route": "/x", "times": "often"], "times"),
      (["route": "/x", "times": 1.5], "times"), (["route": "/x", "status": 99], "status"),
      (["route": "/x", "status": "401"], "status"), (["route": "/x", "delayMs": -1], "delayMs"),
      (["route": "/x", "hang": 1], "hang"), (["route": "/x", "hang": true, "closeMidBody": true], "hang"),
      (["route": "/x", "headers": ["a": 1]], "headers"), (["route": "/x", "headers": ["a\n": "b"]], "headers"),
      (["route": "/x", "headers": ["a": "b\r\nc: d"]], "headers"),
      (["route": "/x", "contentType": "\n"], "contentType"),
      (["route": "/x", "passThrough": true, "status": 401], "status"),
      (["route": "GET /x", "method": "GET"], "method"),
    ] as [(JSON, String)])
  func `A mistake names its member and queues nothing`(script: JSON, member: String) async throws {
    let response = try await sandbox.send("POST", "/_control", [["route": "/ok"], script])
    #expect(response.status == 400)
    #expect(response.tree?["error"]?["member"]?.stringValue == member)
    #expect(response.tree?["error"]?["description"]?.stringValue?.hasPrefix("\(member): ") == true)
    #expect(try await sandbox.send("GET", "/_control").tree?["pending"] == [])
  }
}
