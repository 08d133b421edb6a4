import Foundation
import Glibc
import JSONRPC
import Testing

/// Access roles, tested with real processes of other users. Needs root to switch to those users.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct AccessTests {
  /// Makes a call from a process with this uid and returns the response.
  private func call(_ desk: Desk, uid: Int, _ method: String, _ params: JSON) throws -> JSON {
    try Caller(uid: uid).call(desk, method, params)
  }

  @Test func rolesAllowWhatTheySay() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, provider: try desk.mintingProvider(),
      access: ["observe": ["uid:1001"], "use": ["uid:1002"], "control": ["uid:1003"]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    let jwt = JSON.string(try Vendor.mint("alice"))
    func reason(_ uid: Int, _ method: String, _ params: JSONObject = [:]) throws -> String? {
      try call(desk, uid: uid, method, .object((["instance": "desk"] as JSONObject).merged(with: params)))["error"]?[
        "data"]?["reason"]?
        .stringValue
    }
    #expect(try reason(1001, "instance.get") == nil)
    #expect(try reason(1001, "token.get") == "accessDenied")
    #expect(try reason(1002, "token.get") == nil)
    #expect(try reason(1002, "messaging.loginUser", ["jwt": jwt]) == "accessDenied")
    #expect(try reason(1003, "messaging.loginUser", ["jwt": jwt]) == nil)
    #expect(try reason(1003, "instance.delete") == "accessDenied")
    #expect(try reason(1004, "instance.get") == "instanceNotFound")
    func attaching(_ uid: Int, _ id: String) throws -> JSON {
      try call(desk, uid: uid, "delegate.attach", ["instances": [.string(id)]])
    }
    #expect(try attaching(1002, "desk")["error"]?["code"] == -32001)
    #expect(try attaching(1003, "desk")["result"] == [:])
    let missing = JSONWriter.text(of: try attaching(1004, "nobody"))
    #expect(missing.contains("instanceNotFound"))
    let hidden = JSONWriter.text(of: try attaching(1004, "desk"))
    #expect(hidden.replacingOccurrences(of: "desk", with: "nobody") == missing)
    // The provider is a program that the daemon runs, so only admins see it.
    #expect(try call(desk, uid: 1001, "instance.get", ["instance": "desk"])["result"]?["provider"] == nil)
    #expect(try line.call("instance.get", ["instance": "desk"])["provider"] != nil)
  }

  @Test func creatingTakesARule() throws {
    let desk = try Desk.open(
      configuration:
        "[[access.create]]\nwho = \"uid:1001\"\nprefix = \"kiosk-\"\nmax = 1\n[network]\nallow = [\"example.com\"]\n")
    func create(_ uid: Int, _ id: String, _ more: JSONObject = [:]) throws -> JSON {
      let base: JSONObject = [
        "instance": .string(id), "kind": "zendesk.messaging",
        "settings": ["base_url": "https://desk.example.com/sc", "app_id": "a"],
      ]
      return try call(desk, uid: uid, "instance.create", .object(base.merged(with: more)))
    }
    #expect(try create(1002, "kiosk-1")["error"]?["code"] == -32001)
    #expect(try create(1001, "other-1")["error"]?["code"] == -32001)
    #expect(try create(1001, "kiosk-1", ["provider": ["command": ["/bin/true"]]])["error"]?["code"] == -32001)
    #expect(
      try create(1001, "kiosk-1", ["settings": ["base_url": "http://127.0.0.1:1/", "app_id": "a"]])["error"]?["code"]
        == -32001)
    #expect(
      try create(1001, "kiosk-1", ["settings": ["base_url": "https://evil.test/", "app_id": "a"]])["error"]?["code"]
        == -32001)
    #expect(try create(1001, "kiosk-1")["result"]?["instance"] == "kiosk-1")
    #expect(try create(1001, "kiosk-2")["error"]?["data"]?["reason"] == "tooManyInstances")
    #expect(try call(desk, uid: 1001, "instance.delete", ["instance": "kiosk-1"])["result"] == [:])
  }

  @Test func aRuleLooksAtTheKernelsCredentials() throws {
    // Users and groups that every Debian has: daemon 1, bin 2, sys 3, games 5 and the group games 60.
    let desk = try Desk.open()
    let line = try desk.connect()
    let rules: [(id: String, rule: String)] = [
      ("user", "user:daemon"), ("uid", "uid:2"), ("group", "group:games"), ("both", "user:bin+group:games"),
      ("everyone", "*"), ("nobody", "user:no-such-user-here"),
    ]
    for (id, rule) in rules { try desk.create(id, on: line, access: ["observe": [.string(rule)]]) }
    func seen(_ caller: Caller) throws -> [String] {
      let answer = try caller.call(desk, "instance.list")
      return (answer["result"]?["instances"]?.arrayValue ?? []).compactMap { $0["instance"]?.stringValue }
    }
    // Names are resolved asynchronously, after `instance.create` has returned.
    try eventually("the names are resolved") { try seen(Caller(uid: 2, gid: 60)).count == 4 }
    #expect(try seen(Caller(uid: 1)) == ["everyone", "user"])
    #expect(try seen(Caller(uid: 2)) == ["everyone", "uid"])
    #expect(try seen(Caller(uid: 2, gid: 60)) == ["both", "everyone", "group", "uid"])
    #expect(try seen(Caller(uid: 2, groups: [3, 60])) == ["both", "everyone", "group", "uid"])
    #expect(try seen(Caller(uid: 3, groups: [60])) == ["everyone", "group"])
    #expect(try seen(Caller(uid: 5, gid: 5)) == ["everyone"], "the user games is not the group games")
    #expect(try seen(Caller(uid: 0)).count == rules.count)
  }

  @Test func everyMethodTakesTheRoleThatTheContractSays() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let roles = ["observe": 1, "use": 2, "control": 3]
    try desk.create(
      "desk", on: line, access: ["observe": ["uid:1"], "use": ["uid:2"], "control": ["uid:3"]])
    let endpoint: JSON = ["address": "a", "type": "other"]
    let more: [String: JSONObject] = [
      "messaging.loginUser": ["jwt": "x"], "push.register": ["endpoint": endpoint], "push.unregister": ["id": "x"],
      "storage.get": ["key": "k"], "storage.put": ["key": "k", "value": 1], "storage.delete": ["key": "k"],
      "token.reject": ["tokenId": "x"], "instance.update": ["labels": [:]],
    ]
    var checked = 0
    for method in try line.call("rpc.discover")["methods"]?.arrayValue ?? [] {
      guard let name = method["name"]?.stringValue, let role = method["x-sdkd"]?["role"]?.stringValue,
        (method["params"]?.arrayValue ?? []).contains(where: { $0["name"] == "instance" }),
        ["zendesk.messaging", nil].contains(method["x-sdkd"]?["kind"]?.stringValue), name != "instance.create"
      else { continue }
      let params: JSON = .object((["instance": "desk"] as JSONObject).merged(with: more[name] ?? [:]))
      // Methods that need the owner or an admin are refused to all three users.
      let needed = roles[role] ?? 4
      for uid in 1...3 {
        let reason = try Caller(uid: uid).reason(desk, name, params)
        #expect((reason == "accessDenied") == (uid < needed), "\(name) by \(uid): \(reason ?? "done")")
        #expect(reason != "invalidParams" && reason != "instanceNotFound", "\(name)")
      }
      checked += 1
    }
    #expect(checked >= 15)
  }

  @Test func ownersAreAdminsOfTheirOwnAndNothingElse() throws {
    let desk = try Desk.open(
      configuration: """
        [access]
        admins = ["group:sys"]
        [[access.create]]
        who = "group:games"
        prefix = "kiosk-"
        max = 2
        [network]
        allow = ["example.com"]
        """)
    let settings: JSON = ["base_url": "https://desk.example.com/sc", "app_id": "a"]
    func params(_ id: String) -> JSON {
      ["instance": .string(id), "kind": "zendesk.messaging", "settings": settings]
    }
    let (one, other, stranger) = (Caller(uid: 1, groups: [60]), Caller(uid: 2, groups: [60]), Caller(uid: 1))
    let admin = Caller(uid: 5, groups: [3])
    #expect(try stranger.reason(desk, "instance.create", params("kiosk-1")) == "accessDenied")
    for id in ["kiosk-1", "kiosk-2"] { #expect(try one.reason(desk, "instance.create", params(id)) == nil) }
    #expect(try one.reason(desk, "instance.create", params("kiosk-3")) == "tooManyInstances")
    #expect(try other.reason(desk, "instance.create", params("kiosk-3")) == nil, "the quota is each uid's own")
    #expect(try other.reason(desk, "instance.create", params("kiosk-1")) == "instanceExists")
    #expect(try admin.reason(desk, "instance.create", params("anything")) == nil)
    // The owner is the uid that created the instance, whatever its present groups. Another creator has no role on it.
    #expect(try stranger.reason(desk, "instance.update", ["instance": "kiosk-1", "access": ["use": ["uid:2"]]]) == nil)
    #expect(try other.reason(desk, "instance.update", ["instance": "kiosk-1", "access": [:]]) == "accessDenied")
    #expect(try other.reason(desk, "instance.delete", ["instance": "kiosk-2"]) == "instanceNotFound")
    #expect(try stranger.reason(desk, "instance.get", ["instance": "anything"]) == "instanceNotFound")
    // Owners may not make the changes that need an admin.
    for change in [
      ["provider": ["command": ["/bin/true"]]], ["settings": ["base_url": "https://evil.test/"]],
      ["settings": ["base_url": "http://127.0.0.1:1/"]], ["settings": ["ca_file": "/etc/shadow"]],
    ] as [JSONObject] {
      let params: JSON = .object((["instance": "kiosk-1"] as JSONObject).merged(with: change))
      #expect(try one.reason(desk, "instance.update", params) == "accessDenied", "\(params)")
    }
    #expect(try admin.reason(desk, "instance.update", ["instance": "kiosk-1", "labels": ["a": "b"]]) == nil)
    #expect(try one.reason(desk, "instance.delete", ["instance": "kiosk-2"]) == nil)
    #expect(try one.reason(desk, "instance.create", params("kiosk-4")) == nil, "the place is free again")
  }
}
