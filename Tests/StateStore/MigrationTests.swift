import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// Migration of states written by released versions.
@Suite struct MigrationTests {
  private func version(_ directory: TemporaryDirectory) throws -> Int64? {
    let raw = try RawDatabase(directory)
    defer { try? raw.close() }
    return try raw.integers("PRAGMA user_version").first
  }

  private func schema(_ directory: TemporaryDirectory) throws -> [String] {
    let raw = try RawDatabase(directory)
    defer { try? raw.close() }
    return try raw.texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
  }

  @Test func bringsVersionOneUpToDate() async throws {
    let directory = try TemporaryDirectory()
    try VersionOneState.write(to: directory)
    #expect(try version(directory) == 1)
    let store = try await open(directory)
    #expect(store.meta.restartCount == 1)
    let state = try await store.load()
    #expect(state.quarantined.isEmpty)
    #expect(state.instances.map(\.uuid) == [VersionOneState.frontDesk, VersionOneState.wiped])
    let (desk, wiped) = (try #require(state.instances.first), try #require(state.instances.last))
    #expect(desk.id.name == "front-desk" && wiped.id.name == "wiped")
    #expect(desk.identity == Sample.identity && wiped.identity == "next")
    #expect((desk.epoch, desk.storageEpoch, wiped.epoch, wiped.storageEpoch) == (3, 0, 1, 1))
    #expect(desk.createdAt == (try Sample().instance.createdAt))
    #expect(desk.definition["settings"]?["base_url"] == "https://plaintext-settings.example")
    #expect(state.instances.allSatisfy { $0.pushes.isEmpty && $0.outbox.isEmpty })
    #expect(try await store.storageKeys(of: desk.uuid).map(\.key) == ["draft", "theme"])
    #expect(try await store.storageValue(of: desk.uuid, key: "draft")?.value == "second")
    #expect(try await store.storageValue(of: wiped.uuid, key: "new")?.storageEpoch == 1)
    let events = try await store.events(after: 0, limit: 10)
    #expect(events.map(\.type) == [.instanceCreated, .userLoggedIn, .identityWiped])
    #expect(events.map(\.data["user"]) == [nil, "u", nil])
    await store.close()
    #expect(try version(directory) == Int64(StoreSchema.version))
  }

  @Test func takesNewPartsIntoAMigratedState() async throws {
    let directory = try TemporaryDirectory()
    try VersionOneState.write(to: directory)
    let store = try await open(directory)
    let change = InstanceChange(
      uuid: VersionOneState.frontDesk, id: try #require(InstanceID("front-desk")), kind: KindName("test.kind"),
      parts: [
        .putPush(id: "p", "push"), .putOutbox(id: "o", "entry", deadline: Timestamp(secondsSince1970: 5)),
        .identify("new"),
      ], events: [.init(.pushRegistered)])
    #expect(try await store.commit(change).events.map(\.position) == [4])
    // The slot of the deleted instance (2) is reused for a key of the state.
    let before = try await store.load().instances
    await store.close()
    let raw = try RawDatabase(directory)
    #expect(try raw.integers("SELECT slot FROM outbox") == [6])
    #expect(try raw.integers("SELECT slot FROM state_key") == [2, 4, 5])
    try raw.close()
    let again = try await open(directory)
    let after = try await again.load()
    #expect(after.instances == before && after.quarantined.isEmpty)
    #expect(after.instances.first?.pushes == [StoredPush(id: "p", value: "push")])
    #expect(after.instances.first?.outbox.map(\.value) == ["entry"])
    await again.close()
  }

  /// The first script must still create the tables that it created when it was released.
  @Test func makesTheSameTablesAnew() async throws {
    let (old, new) = (try TemporaryDirectory(), try TemporaryDirectory())
    try VersionOneState.write(to: old)
    await (try open(old)).close()
    await (try open(new)).close()
    #expect(try schema(old) == schema(new))
    #expect(try schema(new).count > 8)
  }

  @Test func changesNothingOfAnOldStateUnderAnotherKey() async throws {
    let directory = try TemporaryDirectory()
    try VersionOneState.write(to: directory)
    try FileManager.default.removeItem(atPath: directory.state + "/root.key")
    let other = try #require(RootKey(bytes: Array(repeating: 7, count: 32)))
    await #expect(throws: StoreOpenError.self) { _ = try await open(directory, rootKey: .credential(other)) }
    #expect(try version(directory) == 1)
  }
}
