import Foundation
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Rotation of the master key while the store is in use.
@Suite struct KeyRotationTests {
  @Test func wrapsEveryKeyAnewAndLeavesNoOldOne() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let samples = try (0..<3).map { try Sample("instance-\($0)") }
    for sample in samples { _ = try await store.commit(sample.fill) }
    _ = try await store.backUp(name: "before", keep: 3)
    let (old, master) = (try directory.wrappedKeys(), try directory.wrappedMaster())
    let cursor = store.cursors.encode(2)
    let digest = store.identityDigests.digest(of: "alice", in: samples[0].uuid)
    #expect(try await store.rotateKey() == 6)
    // No file has an old key: neither the database nor its log nor the backup.
    for key in old + [master] { #expect(try directory.filesContaining(key) == []) }
    for sample in samples { try await sample.expectFilled(store) }
    _ = try await store.commit(samples[0].change(.identify("next"), events: [.init(.tokenRefreshed)]))
    #expect(try await store.rotateKey() == 6)
    _ = try await store.commit(samples[0].change(.identify(Sample.identity), events: [.init(.tokenRefreshed)]))
    #expect(try await store.events(after: 0, limit: 100).count == 8)
    await store.close()

    let again = try await open(directory)
    for sample in samples { try await sample.expectFilled(again) }
    #expect(try await again.events(after: 0, limit: 100).count == 8)
    #expect(again.cursors.decode(cursor) == 2)
    #expect(again.identityDigests.digest(of: "alice", in: samples[0].uuid) == digest)
    await again.close()
    // The backup opens with the new keys.
    try directory.restore("before")
    let restored = try await open(directory)
    for sample in samples { try await sample.expectFilled(restored) }
    #expect(try await restored.events(after: 0, limit: 100).count == 6)
    await restored.close()
  }

  @Test func survivesAKillAtAnyMoment() async throws {
    let directory = try TemporaryDirectory()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: snapshots.tuning(of: directory))
    let samples = try (0..<3).map { try Sample("instance-\($0)") }
    for sample in samples { _ = try await store.commit(sample.fill) }
    _ = try await store.backUp(name: "copy", keep: 3)
    let old = try directory.wrappedKeys()
    snapshots.start()
    _ = try await store.rotateKey()
    snapshots.stop()
    await store.close()
    #expect(snapshots.all.map(\.moment) == [.rotating, .committing, .emptyingLog, .rotated])
    for (moment, left) in snapshots.all {
      let again = try await open(left)
      for sample in samples { try await sample.expectFilled(again) }
      _ = try await again.commit(samples[0].put("more", 1))
      await again.close()
      // As soon as the new keys are in force, no file has an old one, not even the backup.
      let isOld = moment == .rotating || moment == .committing
      for key in old { #expect(try left.filesContaining(key).isEmpty == !isOld, "\(moment)") }
      try left.restore("copy")
      let restored = try await open(left)
      for sample in samples { try await sample.expectFilled(restored) }
      await restored.close()
    }
  }

  @Test func changesNothingWhenTheDiskFails() async throws {
    let directory = try TemporaryDirectory()
    let faults = Faults()
    let store = try await open(directory, tuning: faults.tuning)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    let old = try directory.wrappedKeys()
    faults.fail(1, with: .inputOutput) { $0 == .committing }
    #expect(await reason { _ = try await store.rotateKey() } == .storeUnavailable)
    try await sample.expectFilled(store)
    #expect(try directory.wrappedKeys() == old)
    try await eventually { (try? await store.rotateKey()) != nil }
    try await sample.expectFilled(store)
    #expect(store.health == .ok)
    await store.close()
  }

  @Test(
    "A wipe after a rotation whose log could not be emptied leaves no backup with two master keys",
    arguments: [false, true])
  func givesABackupOneMasterKey(isBackupHeld: Bool) async throws {
    let directory = try TemporaryDirectory()
    let faults = Faults()
    let store = try await open(directory, tuning: faults.tuning)
    let (sample, other) = (try Sample("one"), try Sample("two"))
    for sample in [sample, other] { _ = try await store.commit(sample.fill) }
    _ = try await store.backUp(name: "before", keep: 3)
    let old = try directory.wrappedKeys() + [directory.wrappedMaster()]
    let backup = directory.state + "/backups/before.db"
    let obstacle = BackupRemovalTests.Obstacle.journalThatCantBeRead
    let end = try isBackupHeld ? obstacle.begin(on: backup, nil) : nil
    faults.fail { $0 == .emptyingLog }
    #expect(await reason { _ = try await store.rotateKey() } == .storeUnavailable)
    faults.stop()
    try end?()
    try await eventually { (try? await store.commit(sample.change(.wipe))) != nil }
    // A backup that stays under the former key is left alone and named; the start rewraps it.
    #expect(store.unfinishedBackups.map(\.name) == (isBackupHeld ? ["before"] : []))
    for key in old { #expect(try directory.filesContaining(key) == [] || isBackupHeld) }
    await store.close()

    let again = try await open(directory)
    try await eventually { again.unfinishedBackups.isEmpty && again.health == .ok }
    // Another backup waits for the removal.
    _ = try await again.backUp(name: "after", keep: 3)
    await again.close()
    for key in old { #expect(try directory.filesContaining(key) == []) }
    _ = try StateRestoration.run(directory: directory.state, from: .named("before"))
    let restored = try await open(directory)
    #expect(try await restored.load().quarantined.isEmpty)
    let wiped = try #require(try await restored.loaded(sample))
    #expect(wiped.identity == nil)
    try await other.expectFilled(restored)
    await restored.close()
  }

  @Test func letsGoOfKeysThatSealNoEventAnyMore() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock, retention: EventRetention(maxAge: 10))
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    for _ in 0..<3 {
      _ = try await store.rotateKey()
      clock.advance(by: 20)
      _ = try await store.commit(sample.change(.identify(Sample.identity), events: [.init(.tokenRefreshed)]))
      await store.applyRetention()
    }
    #expect(try await store.rotateKey() == 2)
    #expect(try await store.events(after: 0, limit: 10).count == 1)
    await store.close()
    let raw = try RawDatabase(directory)
    #expect(try raw.integers("SELECT first FROM state_key WHERE purpose = 'events'") == [5, 6])
    try raw.close()
  }
}
