import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct CreationTests {
  private func policy() throws -> AccessPolicy {
    AccessPolicy(
      create: [
        .init(who: try #require(AccessRule("uid:7")), prefix: "a-", max: 2),
        .init(who: try #require(AccessRule("uid:7")), prefix: "b-", max: 100),
      ], names: AccessPolicyTests.Names())
  }

  private func params(_ name: String, _ more: JSONObject = [:]) -> JSON {
    let base: JSONObject = [
      "instance": .string(name), "kind": "fake.chat", "settings": ["base_url": "https://a.example"],
    ]
    return .object(base.merged(with: more))
  }

  @Test func `Outside the prefix the answer is the same whether the instance exists`() async throws {
    try await World.run(access: try policy()) { world in
      _ = try await world.instance("taken")
      let session = world.session(uid: 7)
      let taken = await world.call("instance.create", params("taken"), on: session).error
      let free = await world.call("instance.create", params("other"), on: session).error
      #expect(taken?.reason == "accessDenied")
      #expect(taken?.message.replacing("taken", with: "other") == free?.message)
    }
  }

  @Test func `A service that creates by its unit owns as the unit, and another service with its uid does not`()
    async throws
  {
    let rule = try #require(AccessRule("unit:kiosk.service"))
    let policy = AccessPolicy(
      create: [.init(who: rule, prefix: "k-", max: 1)], names: AccessPolicyTests.Names())
    let store = InMemoryStateStore()
    try await World.run(store: store, access: policy) { world in
      let kiosk = world.session(uid: 62_784, unit: "kiosk.service")
      #expect(await world.call("instance.create", params("k-1"), on: kiosk).value != nil)
    }
    // After a restart the instance still belongs to the unit, and not to the uid.
    try await World.run(store: store, access: policy) { world in
      let colliding = world.session(uid: 62_784, unit: "printer.service")
      #expect(await world.call("instance.get", ["instance": "k-1"], on: colliding).reason == "instanceNotFound")
      let moved = world.session(uid: 61_200, unit: "kiosk.service")
      #expect(await world.call("instance.create", params("k-2"), on: moved).reason == "tooManyInstances")
      #expect(await world.call("instance.update", ["instance": "k-1", "labels": ["a": "b"]], on: moved).value != nil)
      #expect(await world.call("instance.delete", ["instance": "k-1"], on: moved).value == [:])
    }
  }

  @Test(
    arguments: [
      ("labels", ["labels": ["a": .string(String(repeating: "x", count: 256))]]),
      ("labels", ["labels": ["a": .string("a" + String(repeating: "\u{301}", count: 128))]]),
      ("labels", ["labels": [String(repeating: "\u{E9}", count: 32): "x"]]),
      ("labels.e\u{301}", ["labels": ["\u{E9}": "1", "e\u{301}": "2"]]),
      ("labels.\u{212A}", ["labels": ["K": "1", "\u{212A}": "2"]]),
      ("labels", ["labels": .object(JSONObject((0..<65).map { ("l\($0)", "x") }))]),
      (
        "settings",
        ["settings": ["base_url": "https://a.example", "key": .string(String(repeating: "x", count: 41_000))]]
      ),
      ("access.use", ["access": ["use": .array((0..<65).map { .string("uid:\($0)") })]]),
      ("access.use[0]", ["access": ["use": ["unit:*.service"]]]),
      ("access.observe[0]", ["access": ["observe": ["user:a\u{301}\u{0}"]]]),
    ] as [(String, JSONObject)])
  func `A definition over its bounds is refused with the member`(member: String, more: JSONObject) async throws {
    try await World.run { world in
      let root = world.session()
      let error = await world.call("instance.create", params("a-1", more), on: root).error
      #expect(error?.code == -32602)
      #expect(error?.data["member"]?.stringValue == member, "\(String(describing: error))")
      #expect(await world.call("instance.create", params("a-1"), on: root).value != nil)
      let patch = (["instance": "a-1"] as JSONObject).merged(with: more)
      let refusal = await world.call("instance.update", .object(patch), on: root).error
      #expect(refusal?.data["member"]?.stringValue == member)
    }
  }

  @Test func `Rules that a former version took and that match nobody are left out, and the instance opens`()
    async throws
  {
    let store = InMemoryStateStore()
    let uuid = InstanceUUID("00000000-0000-0000-0000-000000000001")
    let many: [JSON] = (0..<70).map { .string("uid:\(1000 + $0)") }
    let definition: JSON = [
      "kind": "fake.chat", "source": "api", "owner": 7, "settings": ["base_url": "https://a.example"], "labels": [:],
      "access": ["observe": ["unit:*.service", "uid:8"], "use": .array(many)],
    ]
    let stored = StoredInstance(
      uuid: uuid, id: try #require(InstanceID("old")), createdAt: ManualClock.start, definition: definition)
    _ = try await store.commit(
      InstanceChange(uuid: uuid, id: stored.id, kind: KindName("fake.chat"), parts: [.create(stored)]))
    try await World.run(store: store) { world in
      let shown = await world.call("instance.get", ["instance": "old"], on: world.session(uid: 8)).value
      #expect(shown?["access"]?["observe"] == ["uid:8"])
      #expect(shown?["access"]?["use"]?.arrayValue?.count == 64)
      #expect(await world.call("instance.get", ["instance": "old"], on: world.session(uid: 1063)).value != nil)
      #expect(await world.call("instance.get", ["instance": "old"], on: world.session(uid: 1064)).value == nil)
    }
  }

  @Test func `Who creates owns, up to the rule's and the uid's limit`() async throws {
    try await World.run(access: try policy()) { world in
      let session = world.session(uid: 7)
      for name in ["a-1", "a-2"] {
        #expect(await world.call("instance.create", params(name), on: session).value?["instance"] == .string(name))
      }
      #expect(await world.call("instance.create", params("a-3"), on: session).reason == "tooManyInstances")
      for index in 3...20 {
        #expect(await world.call("instance.create", params("b-\(index)"), on: session).value != nil)
      }
      #expect(await world.call("instance.create", params("b-21"), on: session).reason == "tooManyInstances")
      #expect(await world.call("instance.delete", ["instance": "a-1"], on: session).value == [:])
      #expect(await world.call("instance.create", params("a-3"), on: session).value != nil)
      #expect(await world.call("instance.create", params("a-3"), on: world.session()).reason == "instanceExists")
    }
  }

  /// A directory in which 100000 to 100009 are subordinate uids of 7, and 20 to 29 those of root.
  private final class Subordinates: NameDirectory {
    func uid(ofUser name: String) -> UInt32? { nil }
    func gid(ofGroup name: String) -> UInt32? { name == "support" ? 50 : nil }
    func request(_ names: Set<SystemName>, for owner: UInt32) {}
    func user(of uid: UInt32) -> UInt32 {
      switch uid {
      case 100_000..<100_010: 7
      case 20..<30: 0
      default: uid
      }
    }
  }

  @Test func `The instances of subordinate uids count for their owner, whose rights they never get`() async throws {
    let members = try #require(AccessRule("group:support"))
    let policy = AccessPolicy(create: [.init(who: members, prefix: "a-", max: 2)], names: Subordinates())
    try await World.run(access: policy) { world in
      func session(_ uid: UInt32) -> ClientSession {
        ClientSession(link: FakeLink(peer: Peer(pid: 1, uid: uid, gid: 9, groups: [50])))
      }
      func create(_ name: String, _ uid: UInt32) async -> String? {
        await world.call("instance.create", params(name), on: session(uid)).reason
      }
      #expect(await create("a-1", 7) == nil)
      #expect(await create("a-2", 100_001) == nil)
      for uid in [7, 100_001, 100_002, 100_009] as [UInt32] {
        #expect(await create("a-3", uid) == "tooManyInstances", "\(uid)")
      }
      #expect(await create("a-3", 8) == nil)
      #expect(await create("a-4", 100_010) == nil)
      // Instances of root count against no user, also when root has subordinate uids.
      for number in 5..<9 { #expect(await create("a-\(number)", 0) == nil) }
      #expect(await create("a-10", 21) == nil)
      // Only the uid that made an instance owns it. The user's other uids do not.
      for (name, owner) in [("a-1", 7), ("a-2", 100_001)] as [(String, UInt32)] {
        for uid in [7, 100_001, 100_002] as [UInt32] {
          let reason = await world.call("instance.get", ["instance": .string(name)], on: session(uid)).reason
          #expect(reason == (uid == owner ? nil : "instanceNotFound"), "\(name) \(uid)")
        }
      }
    }
  }

  @Test func `Creations at the same time don't exceed the limit together`() async throws {
    let gate = Gate()
    try await World.run(access: try policy(), commitGate: gate) { world in
      let refusals = Records<String>()
      try await withThrowingTaskGroup(of: Bool.self) { group in
        defer { gate.open() }
        for number in 0..<10 {
          group.addTask {
            let session = world.session(uid: 7)
            let answer = await world.call("instance.create", params("a-\(number)"), on: session)
            if let reason = answer.reason { refusals.add(reason) }
            return answer.value != nil
          }
        }
        try await eventually("all others are refused before a commit ends") { refusals.count == 8 }
        gate.open()
        var created = 0
        for try await isCreated in group where isCreated { created += 1 }
        #expect(created == 2)
      }
      #expect(Set(refusals.all) == ["tooManyInstances"])
      #expect(world.registry.instances.count == 2)
    }
  }

  @Test func `A creation that can't be stored leaves room for the next`() async throws {
    try await World.run(access: try policy()) { world in
      let session = world.session(uid: 7)
      world.store.failNextCommits(2)
      for name in ["a-1", "a-2"] {
        #expect(await world.call("instance.create", params(name), on: session).reason == "storeUnavailable")
      }
      for name in ["a-1", "a-2"] {
        #expect(await world.call("instance.create", params(name), on: session).value != nil)
      }
    }
  }

  @Test(
    arguments: [
      ["provider": ["command": ["/bin/true"]]], ["settings": ["key_file": "/etc/shadow"]],
      ["settings": ["base_url": "http://127.0.0.1/"]], ["settings": ["base_url": "https://localhost/"]],
    ] as [JSONObject])
  func `Programs, files and loopback take an admin`(more: JSONObject) async throws {
    try await World.run(access: try policy()) { world in
      #expect(
        await world.call("instance.create", params("a-1", more), on: world.session(uid: 7)).reason == "accessDenied")
      #expect(await world.call("instance.create", params("a-1", more), on: world.session()).value != nil)
    }
  }

  @Test func `What the kind does not know is named`() async throws {
    try await World.run { world in
      let session = world.session()
      let setting = await world.call("instance.create", params("a", ["settings": ["base_ur": "x"]]), on: session).error
      #expect(setting?.data["member"] == "settings.base_ur")
      #expect(setting?.data["hints"] == ["nearest: base_url"])
      let kind = await world.call("instance.create", params("a", ["kind": "fake.chatt"]), on: session).error
      #expect(kind?.data["member"] == "kind")
      #expect(kind?.data["hints"] == ["nearest: fake.chat"])
      let provider = await world.call("instance.create", params("a", ["provider": ["comand": []]]), on: session).error
      #expect(provider?.data["member"] == "provider.comand")
      #expect(world.registry.instances.isEmpty)
      let stored = try await world.store.load()
      #expect(stored.instances.isEmpty)
    }
  }

  @Test func `An update merges, null removes, and labels take control alone`() async throws {
    try await World.run { world in
      let control = AccessRules(control: [try #require(AccessRule("uid:8"))])
      _ = try await world.instance(settings: ["key": "x"], access: control, labels: ["a": "1", "b": "2"])
      let admin = world.session()
      let labels: JSON = ["instance": "desk", "labels": ["a": nil, "c": "3"]]
      #expect(
        await world.call("instance.update", labels, on: world.session(uid: 8)).value?["labels"] == ["b": "2", "c": "3"])
      let settings: JSON = ["instance": "desk", "settings": ["key": nil]]
      #expect(await world.call("instance.update", settings, on: world.session(uid: 8)).reason == "accessDenied")
      #expect(
        await world.call("instance.update", settings, on: admin).value?["settings"] == ["base_url": "https://a.example"]
      )
      #expect(await world.call("instance.get", ["instance": "desk"], on: admin).value?["provider"] != nil)
      let removed = await world.call("instance.update", ["instance": "desk", "provider": nil], on: admin)
      #expect(removed.value?["provider"] == nil)
      let badAccess = await world.call("instance.update", ["instance": "desk", "access": ["use": ["me"]]], on: admin)
        .error
      #expect(badAccess?.data["member"] == "access.use[0]")
    }
  }

  @Test func `A delete with logout fails as the logout does, and the instance stays`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.network)
      let session = world.session()
      #expect(
        await world.call("instance.delete", ["instance": "desk", "logout": true], on: session).reason == "network")
      #expect(desk.state == .authenticated)
      #expect(await world.call("instance.delete", ["instance": "desk", "logout": true], on: session).value == [:])
      #expect(await world.call("instance.get", ["instance": "desk"], on: session).reason == "instanceNotFound")
    }
  }

  @Test func `Lists come in pages, by id and filter`() async throws {
    try await World.run { world in
      for name in ["c", "a", "b", "d"] { _ = try await world.instance(name, labels: ["n": name == "b" ? "x" : "y"]) }
      let session = world.session()
      func names(_ params: JSON) async -> ([String], String?) {
        let value = await world.call("instance.list", params, on: session).value
        return (
          (value?["instances"]?.arrayValue ?? []).compactMap { $0["instance"]?.stringValue },
          value?["next"]?.stringValue
        )
      }
      #expect(await names(["limit": 3]) == (["a", "b", "c"], "c"))
      #expect(await names(["limit": 3, "after": "c"]) == (["d"], nil))
      #expect(await names(["limit": 4]) == (["a", "b", "c", "d"], nil))
      #expect(await names(["labels": ["n": "x"]]) == (["b"], nil))
      #expect(await names(["kind": "fake.other"]) == ([], nil))
      #expect(await names(["state": "noUser", "limit": 1]) == (["a"], "a"))
    }
  }

  @Test func `An instance whose rows don't open is set aside alone`() async throws {
    let clock = ManualClock()
    let store = InMemoryStateStoreFactory.make(clock)
    try await World.run(store: store) { world in
      _ = try await world.instance("good")
      store.quarantine(try await world.instance("bad").uuid)
    }
    try await World.run(store: store) { world in
      let admin = world.session()
      #expect(await world.call("instance.get", ["instance": "good"], on: admin).value != nil)
      #expect(await world.call("instance.get", ["instance": "bad"], on: admin).reason == "instanceQuarantined")
      #expect(
        await world.call("instance.get", ["instance": "bad"], on: world.session(uid: 7)).reason == "instanceNotFound")
      #expect(await world.call("instance.create", params("bad"), on: admin).reason == "instanceExists")
      #expect(await world.call("instance.delete", ["instance": "bad"], on: admin).value == [:])
      #expect(await world.call("instance.create", params("bad"), on: admin).value != nil)
    }
  }
}
