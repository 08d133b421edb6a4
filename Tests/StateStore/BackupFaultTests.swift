import Dispatch
import Foundation
import GRDB
import JSONRPC
import Logging
import SDKProtocol
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

  @Test("A backup that another program reads during a wipe stays, without the key")
  func aBackupThatIsReadStays() async throws {
    let directory = try TemporaryDirectory()
    // The reader ends a moment after the backup was to be changed.
    let end = DispatchSemaphore(value: 0)
    let tuning = StoreTuning { moment, _ in
      if moment == .editingCopies { DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { end.signal() } }
    }
    let store = try await open(directory, tuning: tuning)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    let keys = try directory.wrappedKeys()
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    let reader = try DatabaseQueue(path: directory.state + "/backups/copy.db", configuration: configuration)
    let (began, begin) = AsyncStream<Bool>.makeStream()
    DispatchQueue(label: "reader").async {
      let count = try? reader.read { db -> Int? in
        let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM instance")
        begin.yield(count == 1)
        _ = end.wait(timeout: .now() + 60)
        return count
      }
      if count == nil { begin.yield(false) }
    }
    #expect(await began.first { _ in true } == true)
    #expect(try await store.commit(sample.change(.wipe)).unfinished == nil)
    #expect(try directory.copies() == ["copy.db"])
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    #expect(try directory.filesContaining(destroyed) == [])
    try reader.close()
    await store.close()
  }

  @Test("A backup that can't be changed is deleted, and the journal says so")
  func aDeletedBackupIsLogged() async throws {
    let directory = try TemporaryDirectory()
    let lines = Seen<[String]>([])
    let store = try await SQLiteStateStore.open(
      directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: directory.state + "/backups/copy.db"))
    #expect(try await store.commit(sample.change(.wipe)).unfinished == nil)
    #expect(try directory.copies() == [])
    #expect(lines.value.contains { $0.contains("The backup copy was deleted") })
    await store.close()
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
