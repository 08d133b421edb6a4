import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances

struct VisibilityTests {
  private static let methods: [(String, JSONObject)] = [
    ("instance.get", [:]), ("instance.update", ["labels": [:]]), ("instance.update", ["settings": ["key": "x"]]),
    ("instance.delete", [:]), ("instance.delete", ["logout": true]), ("instance.currentUser", [:]),
    ("session.open", [:]),
    ("token.get", [:]), ("token.get", ["http": true]), ("token.refresh", [:]), ("token.reject", ["tokenId": "x"]),
    ("storage.get", ["key": "k"]), ("storage.put", ["key": "k", "value": 1]), ("storage.delete", ["key": "k"]),
    ("storage.list", [:]), ("fake.login", ["token": "alice#1"]), ("fake.logout", [:]),
  ]

  private func rules(_ text: String) throws -> [AccessRule] { [try #require(AccessRule(text))] }

  @Test func `A hidden instance answers as a missing one, in every method, but for the name`() async throws {
    try await World.run { world in
      let hidden = try await world.instance("hidden")
      try await hidden.signIn("alice#1")
      _ = try await world.instance("hidden-other", kind: "fake.other")
      let stranger = world.session(uid: 7)
      for (method, members) in Self.methods {
        func answer(_ name: String) async -> String? {
          let params = (["instance": .string(name)] as JSONObject).merged(with: members)
          return await world.call(method, .object(params), on: stranger).error.map { JSONWriter.text(of: $0.json) }
        }
        let missing = await answer("absent")
        #expect(missing?.contains("instanceNotFound") == true, "\(method)")
        for name in ["hidden", "hidden-other"] {
          #expect(await answer(name) == missing?.replacing("absent", with: name), "\(method)")
        }
      }
      for method in ["events.subscribe", "events.list"] {
        let missing = await world.call(method, ["instances": ["absent"]], on: stranger).error
        let present = await world.call(method, ["instances": ["hidden"]], on: stranger).error
        #expect(missing?.reason == "instanceNotFound")
        #expect(
          present.map { JSONWriter.text(of: $0.json) }
            == missing.map { JSONWriter.text(of: $0.json).replacing("absent", with: "hidden") })
      }
      #expect(await world.call("instance.list", on: stranger).value == ["instances": []])
      #expect(await world.call("events.list", on: stranger).value?["events"] == [])
    }
  }

  @Test func `Who may not write waits for no write, and no write for them`() async throws {
    let create = AccessPolicy.CreateRule(who: try #require(AccessRule("uid:7")), prefix: "kiosk-", max: 5)
    let policy = AccessPolicy(create: [create], names: AccessPolicyTests.Names())
    try await World.run(access: policy) { world in
      let access = AccessRules(use: try rules("uid:8"), control: try rules("uid:9"))
      let desk = try await world.instance("hidden", access: access)
      let owner = world.session(uid: 9)
      // The call has its ticket in the write order and does not run, so later writes wait.
      guard case .run(let first) = world.accept("fake.logout", ["instance": "hidden"], on: owner) else { return }
      let attach = ["instances": ["hidden"]] as JSON
      for (uid, method, params, expected) in [
        (7, "fake.login", ["instance": "hidden", "token": "x"], "instanceNotFound"),
        (8, "fake.login", ["instance": "hidden", "token": "x"], "accessDenied"),
        (7, "instance.create", ["instance": "hidden", "kind": "fake.chat"], "accessDenied"),
        (7, "delegate.attach", attach, "instanceNotFound"), (8, "delegate.attach", attach, "accessDenied"),
        (7, "delegate.detach", attach, "instanceNotFound"), (7, "fake.login", ["instance": "hidden"], "invalidParams"),
      ] as [(UInt32, String, JSON, String)] {
        let session = world.session(uid: uid)
        #expect(await world.call(method, params, on: session).reason == expected, "\(uid) \(method)")
      }
      // A write without access is never run and blocks no other write.
      let strange = world.accept(
        "storage.put", ["instance": "hidden", "key": "k", "value": 1], on: world.session(uid: 7))
      first.abandon()
      #expect(await world.call("storage.put", ["instance": "hidden", "key": "k", "value": 2], on: owner).value == [:])
      _ = await World.finish(strange)
      #expect(try await desk.storedValue("k", epoch: nil).value == 2)
    }
  }

  @Test func `Writes on an instance that is just being created follow the creation`() async throws {
    let create = AccessPolicy.CreateRule(who: try #require(AccessRule("uid:7")), prefix: "kiosk-", max: 5)
    try await World.run(access: AccessPolicy(create: [create], names: AccessPolicyTests.Names())) { world in
      let session = world.session(uid: 7)
      let settings: JSON = ["base_url": "https://a.example"]
      let calls = [
        world.accept(
          "instance.create", ["instance": "kiosk-1", "kind": "fake.chat", "settings": settings], on: session),
        world.accept("storage.put", ["instance": "kiosk-1", "key": "k", "value": 1], on: session),
        world.accept("storage.put", ["instance": "kiosk-1", "key": "k", "value": 2], on: session),
      ]
      await withTaskGroup(of: Void.self) { group in
        for call in calls.reversed() { group.addTask { #expect(await World.finish(call).error == nil) } }
      }
      let desk = try #require(world.hosted("kiosk-1"))
      #expect(try await desk.storedValue("k", epoch: nil).value == 2)
    }
  }

  @Test func `A method that declares the role admin is refused to others`() async throws {
    try await World.run { world in
      let methods = CommonMethods.all.filter { $0.access == .role(.admin) }.map { $0.name }
      #expect(
        methods.sorted() == [
          "daemon.backup", "daemon.metrics", "daemon.reload", "daemon.rotateKey", "daemon.setLogLevel",
        ])
      for method in methods {
        #expect(await world.call(method, on: world.session(uid: 7)).reason == "accessDenied", "\(method)")
        #expect(await world.call(method, on: world.session()).reason == nil, "\(method)")
      }
    }
  }

  @Test func `Some role but too little is accessDenied`() async throws {
    try await World.run { world in
      let observers = AccessRules(observe: try rules("uid:7"), use: try rules("uid:8"))
      _ = try await world.instance(access: observers)
      for (method, members) in Self.methods where !["instance.get", "instance.currentUser"].contains(method) {
        let params = (["instance": "desk"] as JSONObject).merged(with: members)
        #expect(
          await world.call(method, .object(params), on: world.session(uid: 7)).reason == "accessDenied", "\(method)")
      }
      #expect(
        await world.call("instance.get", ["instance": "desk"], on: world.session(uid: 7)).value?["instance"] == "desk")
      let user = world.session(uid: 8)
      #expect(await world.call("token.get", ["instance": "desk"], on: user).reason == "notAuthenticated")
      #expect(await world.call("fake.logout", ["instance": "desk"], on: user).reason == "accessDenied")
    }
  }

  @Test func `Checks run in the order params, role, existence, kind, state`() async throws {
    try await World.run { world in
      _ = try await world.instance("other", access: AccessRules(use: try rules("uid:7")), kind: "fake.other")
      let stranger = world.session(uid: 9)
      let user = world.session(uid: 7)
      let admin = world.session()
      func reason(_ params: JSON, _ session: ClientSession) async -> String? {
        await world.call("fake.login", params, on: session).reason
      }
      #expect(await reason(["instance": "other", "tokem": "x"], stranger) == "invalidParams")
      #expect(await reason(["instance": "other", "token": "x"], stranger) == "instanceNotFound")
      #expect(await reason(["instance": "other", "token": "x"], user) == "accessDenied")
      #expect(await reason(["instance": "other", "token": "x"], admin) == "wrongKind")
      _ = try await world.instance("desk")
      #expect(await reason(["instance": "desk", "token": "x"], admin) == "failedToDecodeJWT")
    }
  }

  @Test func `An unknown method comes with the nearest known one`() async throws {
    try await World.run { world in
      let error = await world.call("token.gett", on: world.session()).error
      #expect(error?.code == -32601)
      #expect(error?.data["hints"] == ["nearest: token.get"])
      #expect(await world.call("fake.logn", on: world.session()).error?.data["hints"] == ["nearest: fake.login"])
    }
  }

  @Test func `Health tells of visible instances only`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      _ = await reason { _ = try await desk.token() }
      let shown = await world.call("daemon.health", on: world.session()).value.map { JSONWriter.text(of: $0) }
      #expect(shown?.contains("desk") == true)
      let hidden = await world.call("daemon.health", on: world.session(uid: 7)).value.map { JSONWriter.text(of: $0) }
      #expect(hidden?.contains("desk") == false)
      #expect(hidden?.contains("\"ok\"") == true)
    }
  }
}
