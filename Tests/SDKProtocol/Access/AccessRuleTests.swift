import JSONRPC
import SDKProtocol
import Testing

struct AccessRuleTests {
  @Test(
    arguments: [
      ("*", [.everyone]), ("user:kiosk", [.user("kiosk")]), ("uid:0", [.uid(0)]),
      ("uid:4294967294", [.uid(4_294_967_294)]),
      ("group:support", [.group("support")]), ("unit:kiosk.service", [.unit("kiosk.service")]),
      ("unit:kiosk@1.service", [.unit("kiosk@1.service")]),
      ("user-unit:app.service@alice", [.userUnit("app.service", user: "alice")]),
      ("user-unit:app@2.service@alice", [.userUnit("app@2.service", user: "alice")]),
      ("user-scope:org.gnome.Terminal@alice", [.userScope("org.gnome.Terminal", user: "alice")]),
      ("user-scope:google-chrome@alice", [.userScope("google-chrome", user: "alice")]),
      ("user-scope:a@b@alice", [.userScope("a@b", user: "alice")]),
      ("unit:kiosk.service+user:kiosk", [.unit("kiosk.service"), .user("kiosk")]),
      ("*+uid:7+group:g", [.everyone, .uid(7), .group("g")]),
    ] as [(String, [AccessRule.Condition])])
  func `A rule of the grammar is read`(text: String, conditions: [AccessRule.Condition]) throws {
    let rule = try #require(AccessRule(text))
    #expect(rule.conditions == conditions)
    #expect(try JSONValueEncoder.encode(rule) == .string(text))
    #expect(try JSONValueDecoder.decode(AccessRule.self, from: .string(text)) == rule)
  }

  @Test(arguments: [
    "", "kiosk", "user:", "user: kiosk", "User:kiosk", "uid:", "uid:-1", "uid:x", "uid:4294967296", "uid:1.0", "group:",
    "unit:kiosk", "unit:a/b.service", "unit:", "user-unit:app.service", "user-unit:app.service@", "user-unit:app@alice",
    "user-scope:firefox", "user-scope:firefox@", "user-scope:@alice", "user-scope:a/b@alice", "user-scope:a b@alice",
    "user-scope:app-gnome-firefox-1.scope@alice", "user-scope:*@alice", "user-unit:@alice",
    "user-unit:a/b.service@alice", "unit:kiosk.service+", "+user:kiosk", "user:a++user:b", "**",
    "everyone",
    "user:a\n", "unit:kiosk.socket", "user-unit:app.timer@alice", "unit:.service", "pid:1",
    // Texts that libc or `UInt32` would accept, or would read only in part.
    "uid:+5", "uid: 5", "uid:٥", "uid:4294967295", "user:root\0x", "user-unit:a.service@root\0x", "user:a\u{200B}",
    // Patterns and names that no peer can match.
    "user:*", "group:*", "unit:*.service", "unit:kiosk@.service", "unit:@1.service", "unit:ki osk.service",
    "unit:kiösk.service", "unit:kiosk[12].service", "user-unit:kiosk.service@*", "user-unit:*.service@alice",
  ])
  func `Any other is refused, with the grammar in the message`(text: String) {
    #expect(AccessRule(text) == nil)
    #expect(throws: DecodingError.self) { try JSONValueDecoder.decode(AccessRule.self, from: .string(text)) }
  }

  @Test func `A rule has a length`() {
    #expect(AccessRule("user:" + String(repeating: "a", count: 507)) != nil)
    #expect(AccessRule("user:" + String(repeating: "a", count: 508)) == nil)
  }

  @Test func `The name of a unit has a length`() {
    #expect(AccessRule("unit:" + String(repeating: "a", count: 247) + ".service") != nil)
    #expect(AccessRule("unit:" + String(repeating: "a", count: 248) + ".service") == nil)
  }

  @Test(arguments: ["observe", "use", "control"])
  func `A role has at most 64 rules, and the error names it`(role: String) throws {
    func access(_ count: Int) -> JSON { [role: .array((0..<count).map { .string("uid:\($0)") })] }
    let rules = try JSONValueDecoder.decode(AccessRules.self, from: access(64))
    #expect(rules.byRole.map(\.rules.count).max() == 64)
    let error = #expect(throws: DecodingError.self) {
      try JSONValueDecoder.decode(AccessRules.self, from: access(65))
    }
    guard case .dataCorrupted(let context)? = error else { return }
    #expect(context.codingPath.map(\.stringValue) == [role])
    #expect(context.debugDescription.hasPrefix("There are 65 rules; a role has at most 64."))
  }

  @Test func `Roles are ordered and each access is read strongest first`() throws {
    #expect(Role.allCases == Role.allCases.sorted())
    #expect(Set(Role.allCases.map(\.name)).count == 5)
    let rules = try JSONValueDecoder.decode(AccessRules.self, from: ["use": ["*"], "control": ["uid:1"]])
    #expect(rules.byRole.map(\.role) == [.control, .use, .observe])
    #expect(rules.observe == nil)
  }
}
