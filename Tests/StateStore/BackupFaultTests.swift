import Foundation
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Backups with damaged values, with other readers, and with times in the future.
@Suite struct BackupFaultTests {
  @Test("After a restore no credential is kept of an instance whose storage does not open")
  func aDamagedStorageKeepsNoCredential() async throws {
    let directory = try TemporaryDirectory()
    let (damaged, whole) = (try Sample("damaged"), try Sample("whole"))
    let store = try await open(directory)
    for sample in [damaged, whole] { _ = try await store.commit(sample.fill) }
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    try directory.restore("copy")
    let raw = try RawDatabase(directory)
    try raw.execute("UPDATE storage SET value = zeroblob(40) WHERE instance = ?", [damaged.uuid.description])
    try raw.close()
    let restored = try await open(
      directory,
      withhold: { _, _ in WithheldIdentity(identity: "withheld", events: [.init(.authenticationFailed)]) })
    for sample in [damaged, whole] {
      let loaded = try await restored.loaded(sample)
      #expect(loaded?.identity == "withheld" && loaded?.epoch == 1)
      #expect(loaded?.pushes.count == 1 && loaded?.outbox.count == 1)
    }
    let events = try await restored.events(after: 0, limit: 100)
    #expect(events.count { $0.type == .authenticationFailed } == 2)
    #expect(
      await reason { _ = try await restored.storageValue(of: damaged.uuid, key: "draft") } == .instanceQuarantined)
    #expect(try await restored.storageValue(of: whole.uuid, key: "draft")?.value == "hello")
    await restored.close()
  }

  @Test("A backup dated in the future counts as the oldest, and the new one stays")
  func aFutureBackupIsTheOldest() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock)
    let former = try await store.backUp(keep: 1)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: clock.now.secondsSince1970 + 90_000)],
      ofItemAtPath: directory.state + "/backups/\(former.name).db")
    clock.advance(by: 10)
    let second = try await store.backUp(keep: 2)
    #expect(store.backups.map(\.name) == [second.name, former.name])
    clock.advance(by: 10)
    let third = try await store.backUp(keep: 2)
    #expect(store.backups.map(\.name) == [third.name, second.name])
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: clock.now.secondsSince1970 + 90_000)],
      ofItemAtPath: directory.state + "/backups/\(third.name).db")
    clock.advance(by: 10)
    let last = try await store.backUp(keep: 1)
    #expect(store.backups.map(\.name) == [last.name])
    await store.close()
  }

  @Test("A repair and a restore take a backup dated in the future last", arguments: [true, false])
  func aFutureBackupIsTakenLast(isRepair: Bool) async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock)
    let sample = try Sample()
    _ = try await store.backUp(name: "former", keep: 3)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: clock.now.secondsSince1970 + 86_400)],
      ofItemAtPath: directory.state + "/backups/former.db")
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "newer", keep: 3)
    await store.close()
    clock.advance(by: 10)
    if isRepair {
      try directory.damage()
    } else {
      let done = try StateRestoration.run(directory: directory.state, from: .newest, at: clock.now)
      #expect(done.restored == "newer")
    }
    let again = try await open(directory, clock: clock)
    #expect(again.meta.repair?.backup.name == (isRepair ? "newer" : nil))
    try await sample.expectFilled(again)
    await again.close()
  }
}
