import JSONRPC
import Randomness
import SDKProtocol
import StateStore
import Synchronization
import Testing

@testable import SDKInstances

struct RoleTableTests {
  private static let conditions = [
    "*", "uid:7", "uid:8", "user:alice", "user:bob", "user:unknown", "group:support", "group:staff", "group:unknown",
    "unit:kiosk.service", "unit:printer.service", "user-unit:app.service@alice", "user-unit:app.service@bob",
    "user-scope:firefox@alice", "user-scope:firefox@bob",
  ]

  private let policy = AccessPolicy(names: AccessPolicyTests.Names())

  /// Returns the strongest role by trying every rule, as the protocol describes it.
  private func tried(_ peer: Peer, _ access: InstanceAccess) -> Role? {
    if access.source == .api, access.ownerRule.map({ policy.matches($0, peer) }) ?? (peer.uid == access.owner) {
      return .owner
    }
    return access.access.byRole.first { $0.rules.contains { policy.matches($0, peer) } }?.role
  }

  @Test func `A table gives each peer the role that trying every rule gives`() throws {
    var random = SeededGenerator(seed: 30)
    func rules() throws -> [AccessRule] {
      try (0..<Int.random(in: 0...4, using: &random)).map { _ in
        let parts = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
          Self.conditions.randomElement(using: &random)
        }
        return try #require(AccessRule(parts.joined(separator: "+")))
      }
    }
    var found: [Role?: Int] = [:]
    for _ in 0..<3000 {
      let access = InstanceAccess(
        owner: [5, 7, 1000].randomElement(using: &random) ?? 5, ownerRule: try rules().first,
        source: Bool.random(using: &random) ? .api : .file,
        access: AccessRules(observe: try rules(), use: try rules(), control: try rules()), labels: [:])
      let table = RoleTable(access, names: policy.names)
      for uid in [0, 5, 7, 8, 1000, 1001] as [UInt32] {
        let units: [String?] = [nil, "kiosk.service", "printer.service", "app.service"]
        let unit = units.randomElement(using: &random) ?? nil
        let user = ([nil, 1000, 1001] as [UInt32?]).randomElement(using: &random) ?? nil
        let userUnit = Bool.random(using: &random) ? "app.service" : "app-gnome-firefox-1.scope"
        let groups = ([[], [50], [50, 60], [1]] as [[UInt32]]).randomElement(using: &random) ?? []
        let peer = Peer(
          pid: 1, uid: uid, gid: [9, 50 as UInt32].randomElement(using: &random) ?? 9, groups: groups,
          process: PeerProcess(unit: unit, userUnit: user.map { .init(unit: userUnit, uid: $0) }))
        let role = table.role(of: peer)
        #expect(role == tried(peer, access), "\(access) \(uid)")
        found[role, default: 0] += 1
      }
    }
    #expect(found.count == 5)
  }

  @Test func `A process is looked up only where a unit could give more than the ids`() throws {
    let looked = Mutex(0)
    func peer(_ uid: UInt32) -> Peer {
      Peer(pid: 1, uid: uid, gid: 9, groups: []) {
        looked.withLock { $0 += 1 }
        return PeerProcess(unit: "kiosk.service")
      }
    }
    func rules(_ text: String) throws -> [AccessRule] { [try #require(AccessRule(text))] }
    let unit = "unit:kiosk.service"
    for (access, uid, role, look) in [
      (AccessRules(use: try rules("uid:7")), 7, .use, 0), (AccessRules(use: try rules("uid:7")), 8, nil, 0),
      (AccessRules(observe: try rules(unit), use: try rules("uid:7")), 7, .use, 0),
      (AccessRules(use: try rules("uid:7"), control: try rules(unit)), 7, .control, 1),
      (AccessRules(control: try rules("\(unit)+uid:8")), 7, nil, 0),
      (AccessRules(control: try rules("\(unit)+uid:8")), 8, .control, 1),
      (AccessRules(use: try rules(unit)), 9, .use, 1),
    ] as [(AccessRules, UInt32, Role?, Int)] {
      looked.withLock { $0 = 0 }
      let table = RoleTable(InstanceAccess(owner: 5, source: .file, access: access, labels: [:]), names: policy.names)
      #expect(table.role(of: peer(uid)) == role, "\(access) \(uid)")
      #expect(looked.withLock { $0 } == look, "\(access) \(uid)")
    }
  }

  /// A directory that counts how often numbers are read.
  private final class CountingNames: NameDirectory {
    let reads = Atomic(0)
    func uid(ofUser name: String) -> UInt32? { nil }
    func gid(ofGroup name: String) -> UInt32? {
      reads.add(1, ordering: .relaxed)
      return 5000
    }
    func request(_ names: Set<SystemName>, for owner: UInt32) {}
  }

  @Test("Neither an event for many subscriptions nor a probe of a hidden instance reads its rules one by one")
  func lookUps() async throws {
    let names = CountingNames()
    try await World.run(access: AccessPolicy(names: names)) { world in
      let rules = try (0..<64).map { try #require(AccessRule("group:g\($0)")) }
      let desk = try await world.instance(access: AccessRules(observe: rules, use: rules, control: rules))
      let sessions = (0..<50).map { ClientSession(link: FakeLink(uid: UInt32(1000 + $0 % 5))) }
      for session in sessions { _ = try await world.call("events.subscribe", on: session).get() }
      let before = names.reads.load(ordering: .relaxed)
      try await desk.signIn("alice#1")
      let last = try #require(try await world.last(.userLoggedIn)).position
      try await eventually("it is delivered") { await world.hub.told >= last }
      for session in sessions {
        #expect(await world.call("token.get", ["instance": "desk"], on: session).reason == "instanceNotFound")
      }
      #expect(names.reads.load(ordering: .relaxed) == before)
    }
  }

  @Test func `Changed rules count at once, and names as soon as they have numbers`() async throws {
    final class LateNames: NameDirectory {
      let gid = Mutex<UInt32?>(nil)
      let observer = Mutex<@Sendable () -> Void>({})
      func uid(ofUser name: String) -> UInt32? { nil }
      func gid(ofGroup name: String) -> UInt32? { gid.withLock { $0 } }
      func request(_ names: Set<SystemName>, for owner: UInt32) {}
      func observe(_ observer: @escaping @Sendable () -> Void) { self.observer.withLock { $0 = observer } }
    }
    let names = LateNames()
    try await World.run(access: AccessPolicy(names: names)) { world in
      let rules = [try #require(AccessRule("group:support"))]
      _ = try await world.instance(access: AccessRules(observe: rules))
      let session = world.session(uid: 7)
      func reason() async -> String? {
        let answer: Result<JSON, RPCError> = await world.call("instance.get", ["instance": "desk"], on: session)
        return answer.reason
      }
      #expect(await reason() == "instanceNotFound")
      names.gid.withLock { $0 = 7 }
      names.observer.withLock({ $0 })()
      #expect(await reason() == nil)
      let version = world.registry.accessVersion
      let update: JSON = ["instance": "desk", "access": ["observe": ["uid:8"]]]
      _ = try await world.call("instance.update", update, on: world.session()).get()
      #expect(world.registry.accessVersion > version)
      #expect(await reason() == "instanceNotFound")
      #expect(await world.call("instance.get", ["instance": "desk"], on: world.session(uid: 8)).reason == nil)
    }
  }

  @Test func `The summary of all rules knows owners, uids, groups, units and those of the daemon`() async throws {
    let policy = AccessPolicy(
      admins: [try #require(AccessRule("user:alice"))],
      create: [.init(who: try #require(AccessRule("group:staff")), prefix: "k-", max: 1)],
      names: AccessPolicyTests.Names())
    try await World.run(access: policy) { world in
      func relation(_ peer: Peer) -> KnownPeers.Relation { world.registry.knownPeers.relation(to: peer) }
      func peer(_ uid: UInt32, gid: UInt32 = 9, groups: [UInt32] = [], unit: String? = nil) -> Peer {
        Peer(pid: 1, uid: uid, gid: gid, groups: groups, process: PeerProcess(unit: unit))
      }
      #expect(relation(peer(1000)) == .known)
      #expect(relation(peer(7, gid: 60)) == .known)
      #expect(relation(peer(7, groups: [60])) == .known)
      #expect(relation(peer(7)) == .unknown)
      let rules = try ["uid:7", "group:support+uid:1", "unit:kiosk.service"].map { try #require(AccessRule($0)) }
      _ = try await world.instance(owner: 42, access: AccessRules(use: rules))
      #expect(relation(peer(7)) == .known)
      #expect(relation(peer(42)) == .known)
      #expect(relation(peer(8)) == .unknown)
      #expect(relation(peer(8, unit: "kiosk.service")) == .known)
      #expect(relation(Peer(pid: 1, uid: 8, gid: 9, groups: []) { PeerProcess() }) == .dependsOnUnit)
      _ = try await world.instance("open", access: AccessRules(observe: [try #require(AccessRule("*"))]))
      #expect(relation(peer(8)) == .known)
    }
  }
}
