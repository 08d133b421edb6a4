import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct DeletedInstancesTests {
  private static let rules = (0..<1000).compactMap { AccessRule("user:\(String(repeating: "a", count: 400))\($0)") }

  private func access(owner: UInt32, rules: Int = 0, labels: [String: String] = [:]) -> InstanceAccess {
    InstanceAccess(
      owner: owner, source: .api, access: AccessRules(observe: Array(Self.rules.prefix(rules))), labels: labels)
  }

  private func add(
    _ count: Int, owner: UInt32, rules: Int = 0, to deleted: inout DeletedInstances, prefix: String = "i"
  ) throws {
    for number in 0..<count {
      let name = "\(prefix)-\(owner)-\(number)"
      deleted.add(
        InstanceUUID(name), try #require(InstanceID(name)), KindName("k"), access(owner: owner, rules: rules),
        of: owner)
    }
  }

  @Test func `An entry has a bounded size, and what is dropped only takes roles away`() throws {
    var deleted = DeletedInstances()
    try add(1, owner: 7, rules: 1000, to: &deleted)
    let entry = try #require(deleted.entries.values.first)
    #expect(entry.bytes <= DeletedInstances.bytesPerEntry)
    let rules = entry.access.access.observe ?? []
    #expect(rules.count > 64 && rules.count < 100)
    #expect(rules == Array(Self.rules.prefix(rules.count)))
    let labels = Dictionary(uniqueKeysWithValues: (0..<64).map { ("\($0)", String(repeating: "x", count: 60_000)) })
    #expect(access(owner: 7, labels: labels).bounded(to: 32 << 10).labels.isEmpty)
    let small = access(owner: 7, rules: 3, labels: ["a": "b"])
    #expect(small.bounded(to: 32 << 10) == small)
  }

  @Test func `An owner has a share, beyond which its own oldest entries make room`() throws {
    var deleted = DeletedInstances()
    try add(1, owner: 8, to: &deleted)
    try add(500, owner: 7, rules: 64, to: &deleted)
    #expect(deleted.bytes <= DeletedInstances.bytesPerOwner + DeletedInstances.bytesPerEntry)
    #expect(deleted[InstanceUUID("i-8-0")] != nil)
    #expect(deleted[InstanceUUID("i-7-499")] != nil)
    #expect(deleted[InstanceUUID("i-7-0")] == nil)
    #expect(deleted.kind(of: try #require(InstanceID("i-7-0"))) == nil)
    #expect(deleted.kind(of: try #require(InstanceID("i-7-499"))) == KindName("k"))
  }

  @Test func `All entries together are bounded, and the owner of the most makes room`() throws {
    var deleted = DeletedInstances()
    try add(1, owner: 1, to: &deleted)
    for owner in 2..<40 as Range<UInt32> { try add(40, owner: owner, rules: 64, to: &deleted) }
    #expect(deleted.bytes <= DeletedInstances.bytesInAll)
    #expect(deleted.entries.count > 400)
    #expect(deleted[InstanceUUID("i-1-0")] != nil)
    try add(5000, owner: 0, to: &deleted)
    #expect(deleted.bytes <= DeletedInstances.bytesInAll)
  }

  @Test func `Deleting and creating again keeps the latest kind of the name`() throws {
    var deleted = DeletedInstances()
    let id = try #require(InstanceID("desk"))
    deleted.add(InstanceUUID("1"), id, KindName("old"), access(owner: 7), of: 7)
    deleted.add(InstanceUUID("2"), id, KindName("new"), access(owner: 7), of: 7)
    #expect(deleted.kind(of: id) == KindName("new"))
  }

  @Test func `The deletion of an instance keeps its observers' view, with a bounded audience on disk`() async throws {
    try await World.run { world in
      let many = try (0..<64).map { try #require(AccessRule("user:\(String(repeating: "b", count: 480))\($0)")) }
      let mine = try #require(AccessRule("uid:7"))
      let access = AccessRules(observe: many, use: many, control: [mine])
      let desk = try await world.instance("desk", access: access)
      try await world.host.delete(desk)
      let audience = try #require(try await world.last(.instanceDeleted)?.audience)
      #expect(JSONWriter.bytes(of: audience).count <= 34 << 10)
      let seen = await world.call("events.list", on: world.session(uid: 7)).value?["events"]?.arrayValue ?? []
      #expect(seen.last?["type"] == "instanceDeleted")
      #expect(await world.call("events.list", on: world.session(uid: 8)).value?["events"] == [])
    }
  }
}
