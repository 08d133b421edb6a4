import SDKProtocol
import Testing

@testable import SDKInstances

struct AccessPolicyTests {
  final class Names: NameDirectory {
    func uid(ofUser name: String) -> UInt32? { ["alice": 1000, "bob": 1001][name] }
    func gid(ofGroup name: String) -> UInt32? { ["support": 50, "staff": 60][name] }
    func request(_ names: Set<SystemName>, for owner: UInt32) {}
  }

  private func rules(_ texts: String...) throws -> [AccessRule] { try texts.map { try #require(AccessRule($0)) } }

  private func peer(
    _ uid: UInt32, gid: UInt32 = 9, groups: [UInt32] = [], unit: String? = nil, userUnit: PeerProcess.UserUnit? = nil
  ) -> Peer {
    Peer(pid: 1, uid: uid, gid: gid, groups: groups, process: PeerProcess(unit: unit, userUnit: userUnit))
  }

  private let policy = AccessPolicy(names: Names())

  private func found(_ peer: Peer, on instance: InstanceAccess) -> Role? {
    policy.role(of: peer, by: RoleTable(instance, names: policy.names))
  }

  @Test func `Each kind of rule looks at what the kernel says`() throws {
    let app = PeerProcess.UserUnit(unit: "app.service", uid: 1000)
    let firefox = PeerProcess.UserUnit(unit: "app-gnome-firefox-1.scope", uid: 1000)
    let cases: [(String, Peer, Bool)] = [
      ("*", peer(7), true), ("uid:7", peer(7), true), ("uid:7", peer(8), false), ("user:alice", peer(1000), true),
      ("user:alice", peer(1001), false), ("user:nobody-of-this-name", peer(1000), false),
      ("group:support", peer(7, gid: 50), true),
      ("group:support", peer(7, groups: [1, 50]), true), ("group:support", peer(7, groups: [60]), false),
      ("group:unknown", peer(7, groups: [50]), false), ("unit:kiosk.service", peer(7, unit: "kiosk.service"), true),
      ("unit:kiosk.service", peer(7, unit: "kiosk2.service"), false), ("unit:kiosk.service", peer(7), false),
      ("unit:app.service", peer(1000, userUnit: app), false),
      ("user-unit:app.service@alice", peer(1000, userUnit: app), true),
      ("user-unit:app.service@bob", peer(1000, userUnit: app), false),
      ("user-unit:app.service@unknown", peer(1000, userUnit: app), false),
      ("user-unit:app.service@alice", peer(1000, unit: "app.service"), false),
      ("user-scope:firefox@alice", peer(1000, userUnit: firefox), true),
      ("user-scope:firefox@bob", peer(1000, userUnit: firefox), false),
      ("user-scope:firefox@unknown", peer(1000, userUnit: firefox), false),
      ("user-scope:gnome@alice", peer(1000, userUnit: firefox), false),
      ("user-scope:firefox@alice", peer(1000, unit: "app-gnome-firefox-1.scope"), false),
      ("unit:kiosk.service+user:alice", peer(1000, unit: "kiosk.service"), true),
      ("unit:kiosk.service+user:alice", peer(1001, unit: "kiosk.service"), false),
      ("unit:kiosk.service+user:alice", peer(1000), false),
    ]
    for (text, peer, expected) in cases {
      #expect(policy.matches(try #require(AccessRule(text)), peer) == expected, "\(text)")
    }
  }

  @Test func `The strongest role counts, and who has none is shown nothing`() throws {
    let access = AccessRules(observe: try rules("*"), use: try rules("uid:7", "uid:8"), control: try rules("uid:8"))
    func role(_ uid: UInt32, _ source: Instance.Source = .api) -> Role? {
      found(peer(uid), on: instance(source, access))
    }
    #expect(role(0) == .admin)
    #expect(role(5) == .owner)
    #expect(role(5, .file) == .observe)
    #expect(role(8) == .control)
    #expect(role(7) == .use)
    #expect(role(6) == .observe)
    #expect(found(peer(6), on: instance(.api, AccessRules())) == nil)
    #expect(found(peer(6), on: instance(.api, AccessRules(control: try rules("uid:6")))) == .control)
  }

  private func instance(_ source: Instance.Source, _ access: AccessRules, rule: AccessRule? = nil) -> InstanceAccess {
    InstanceAccess(owner: 5, ownerRule: rule, source: source, access: access, labels: [:])
  }

  @Test func `An owner that is a unit is the unit, whatever its uid`() throws {
    let rule = try #require(AccessRule("unit:kiosk.service"))
    let unit = instance(.api, AccessRules(), rule: rule)
    #expect(found(peer(5, unit: "kiosk.service"), on: unit) == .owner)
    #expect(found(peer(6, unit: "kiosk.service"), on: unit) == .owner)
    #expect(found(peer(5, unit: "printer.service"), on: unit) == nil)
    #expect(found(peer(5), on: unit) == nil)
  }

  @Test func `Root, the admins' rules and the user daemon's own uid are admin`() throws {
    let policy = AccessPolicy(admins: try rules("group:staff"), ownUid: 1000, names: Names())
    #expect(policy.isAdmin(peer(0)))
    #expect(policy.isAdmin(peer(1000)))
    #expect(policy.isAdmin(peer(7, groups: [60])))
    #expect(!policy.isAdmin(peer(1001)))
    #expect(!self.policy.isAdmin(peer(1000)))
  }

  @Test func `A rule lets create ids of its prefix`() throws {
    let policy = AccessPolicy(
      create: [.init(who: try #require(AccessRule("user:alice")), prefix: "kiosk-", max: 3)], names: Names())
    func allows(_ uid: UInt32, _ id: String) throws -> Bool {
      policy.createRule(for: peer(uid), id: try #require(InstanceID(id))) != nil
    }
    #expect(try allows(1000, "kiosk-1"))
    #expect(try !allows(1000, "kios-1"))
    #expect(try !allows(1001, "kiosk-1"))
  }
}
