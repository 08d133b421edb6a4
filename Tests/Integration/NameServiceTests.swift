import Foundation
import Glibc
import JSONRPC
import Testing

/// Access rules that name users and groups, with a name service that does not respond. Needs root to switch users.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct NameServiceTests {
  private static let many: JSON = .array((0..<64).map { .string($0 % 2 == 0 ? "user:slow-\($0)" : "group:slow-\($0)") })

  @Test("A name service that does not answer delays no call, and names match when it does")
  func hangingNameService() throws {
    let desk = try Desk()
    let names = try HangingNames(in: desk)
    try desk.write(
      "sdkd.toml",
      "[access]\nadmins = [\"group:slow-admins\"]\n[[access.create]]\nwho = \"uid:1001\"\nprefix = \"kiosk-\"\nmax = 9\n"
        + "[network]\nallow = [\"example.com\"]\n")
    try desk.start(environment: names.environment)
    let line = try desk.connect()
    try desk.create("desk", on: line, access: ["use": ["uid:1002", "user:slow-one"]])
    try desk.create("fast", on: line, access: ["use": ["user:daemon"]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    let settings: JSON = ["base_url": "https://desk.example.com/sc", "app_id": "a"]
    for number in 0..<3 {
      let made = try Caller(uid: 1001).call(
        desk, "instance.create",
        [
          "instance": .string("kiosk-\(number)"), "kind": "zendesk.messaging", "settings": settings,
          "access": ["observe": Self.many, "use": Self.many, "control": Self.many],
        ])
      #expect(made["result"]?["instance"] == .string("kiosk-\(number)"))
    }
    try eventually("a look-up waits") { names.isAsked }
    // Each of these calls evaluates rules with names. Each gets its response while every look-up waits.
    let calls: [(method: String, params: JSON)] = [
      ("instance.list", [:]), ("events.list", [:]), ("daemon.health", [:]), ("token.get", ["instance": "desk"]),
      ("instance.get", ["instance": "kiosk-1"]), ("storage.put", ["instance": "kiosk-1", "key": "k", "value": 1]),
      ("events.subscribe", [:]), ("daemon.metrics", [:]),
    ]
    for uid in [1002, 4242] { #expect(try Caller(uid: uid, gid: 4242).lines(desk, calls).count == calls.count) }
    #expect(try Caller(uid: 1002).reason(desk, "token.get", ["instance": "desk"]) == nil)
    #expect(try Caller(uid: 4242).reason(desk, "token.get", ["instance": "desk"]) == "instanceNotFound")
    #expect(try Caller(uid: 1, gid: 4242).reason(desk, "daemon.metrics") == "accessDenied")
    #expect(try line.call("daemon.reload")["unchanged"] == [])

    try names.answer()
    try eventually("the names are resolved", within: 30) {
      try Caller(uid: 4242).reason(desk, "token.get", ["instance": "desk"]) == nil
        && Caller(uid: 1, gid: 4242).reason(desk, "daemon.metrics") == nil
        && Caller(uid: 1).reason(desk, "instance.get", ["instance": "fast"]) == nil
    }
  }

  @Test("A connection whose unit can't be looked up yet delays no other connection")
  func hangingUnits() throws {
    let desk = try Desk()
    let names = try HangingNames(in: desk, hangsUnits: true)
    try desk.write("sdkd.toml", "[access]\nadmins = [\"unit:kiosk.service\"]\n")
    try desk.start(environment: names.environment)
    // Each event loop accepts some of them.
    let waiting = (0..<8).map { _ in
      Thread { _ = try? Caller(uid: 1002).reason(desk, "daemon.health") }
    }
    for thread in waiting { thread.start() }
    try eventually("a look-up waits", within: 30) { names.isAsked }
    for _ in 0..<16 {
      let line = try desk.connect()
      #expect(try line.call("instance.list")["instances"] == [])
    }
    #expect(names.isAsked)
    try names.answer()
    #expect(try Caller(uid: 1002).reason(desk, "daemon.health") == nil)
  }

  @Test("A start does not wait for a name service that does not answer")
  func hangingNameServiceAtStart() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": ["user:slow-one", "uid:1002"]])
    #expect(desk.stop() == 0)
    let names = try HangingNames(in: desk)
    try desk.start(environment: names.environment)
    #expect(names.isAsked)
    #expect(try Caller(uid: 1002).reason(desk, "instance.get", ["instance": "desk"]) == nil)
    #expect(try Caller(uid: 4242).reason(desk, "instance.get", ["instance": "desk"]) == "instanceNotFound")
    #expect(desk.stop() == 0, "a look-up that hangs does not hold the end up")
  }

  @Test("After a start, callers by name have their roles from the first call on")
  func namesAreKnownAfterAStart() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": ["user:daemon"]])
    try desk.crash()
    #expect(try Caller(uid: 1).reason(desk, "instance.get", ["instance": "desk"]) == nil)
  }

  @Test("A role with more than 64 rules is refused with its member")
  func tooManyRules() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let rules: JSON = .array((0..<65).map { .string("uid:\($0)") })
    for role in ["observe", "use", "control"] {
      for (method, id) in [("instance.create", "other"), ("instance.update", "desk")] {
        var params: JSONObject = ["instance": .string(id), "access": [role: rules]]
        if method == "instance.create" { params["kind"] = "zendesk.messaging" }
        let error = try line.failure(method, .object(params))
        #expect(error.code == -32602 && error.data["member"]?.stringValue == "access.\(role)", "\(error)")
      }
    }
  }
}
