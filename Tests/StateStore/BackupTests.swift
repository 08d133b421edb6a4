import Foundation
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Backups of a store in use.
@Suite struct BackupTests {
  @Test func holdsTheStateOfItsMomentAndNoDestroyedKey() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock)
    let (kept, wiped, deleted) = (try Sample("kept"), try Sample("wiped"), try Sample("deleted"))
    for sample in [kept, wiped, deleted] { _ = try await store.commit(sample.fill) }
    let copy = try await store.backUp(name: "monday", keep: 3)
    #expect(copy.name == "monday" && copy.createdAt == clock.now)
    #expect(try directory.permissions(directory.state + "/backups/monday.db") == 0o600)
    #expect(copy.bytes == (try Data(contentsOf: URL(fileURLWithPath: directory.state + "/backups/monday.db")).count))
    clock.advance(by: 3600)
    let keys = try directory.wrappedKeys()
    _ = try await store.commit(wiped.change(.wipe))
    _ = try await store.commit(deleted.change(.delete))
    _ = try await store.commit(kept.change(.deleteOutbox(id: "entry")))
    let present = try directory.wrappedKeys()
    let destroyed = keys.filter { !present.contains($0) }
    #expect(destroyed.count == 4)
    for key in destroyed { #expect(try directory.filesContaining(key) == []) }
    // The removals have kept the time of the backup.
    #expect(store.backups.map(\.createdAt) == [copy.createdAt])
    let epoch = try await store.loaded(kept)?.clientStorageEpoch
    await store.close()
    try directory.restore("monday")
    let restored = try await open(directory, clock: clock)
    let state = try await restored.load()
    #expect(state.quarantined.isEmpty && state.instances.map(\.id.name) == ["kept", "wiped"])
    #expect(try await restored.loaded(kept)?.identity == Sample.identity)
    #expect(try await restored.loaded(kept)?.outbox == [])
    #expect(try await restored.loaded(wiped)?.identity == nil)
    #expect(try await restored.storageValue(of: wiped.uuid, key: "draft")?.value == nil)
    #expect(try await restored.loaded(kept)?.clientStorageEpoch != epoch)
    await restored.close()
  }

  @Test func isPutRightAfterAKillBetweenAWipeAndItsCopies() async throws {
    let directory = try TemporaryDirectory()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: snapshots.tuning(of: directory))
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    let key = try directory.wrappedKeys()
    _ = try await store.backUp(name: "copy", keep: 3)
    snapshots.start()
    _ = try await store.commit(sample.change(.wipe))
    snapshots.stop()
    let present = try directory.wrappedKeys()
    let destroyed = try #require(key.first { !present.contains($0) })
    await store.close()
    let left = try #require(snapshots.all.first { $0.moment == .editingCopies }?.directory)
    #expect(try left.filesContaining(destroyed) == ["backups/copy.db"])
    let again = try await open(left)
    _ = try await again.commit(Sample("other").create)
    _ = try await again.commit(sample.change(.wipe))
    #expect(try left.filesContaining(destroyed) == [])
    await again.close()
  }

  @Test("After a kill at any moment of a wipe the key is whole or in no file, and no backup is lost")
  func aKillLeavesTheKeyWholeOrGone() async throws {
    let directory = try TemporaryDirectory()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: snapshots.tuning(of: directory))
    let (wiped, other) = (try Sample("wiped"), try Sample("other"))
    for sample in [wiped, other] { _ = try await store.commit(sample.fill) }
    let keys = try directory.wrappedKeys()
    for name in ["one", "two"] { _ = try await store.backUp(name: name, keep: 3) }
    snapshots.start()
    _ = try await store.commit(wiped.change(.wipe))
    snapshots.stop()
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    await store.close()
    for (moment, left) in snapshots.all {
      let again = try await open(left)
      let loaded = try #require(try await again.loaded(wiped), "\(moment)")
      let identity = loaded.identity
      if identity == nil {
        try await eventually { try left.filesContaining(destroyed) == [] }
      } else {
        #expect(identity == Sample.identity, "\(moment)")
        #expect(try left.filesContaining(destroyed).contains("state.db"), "\(moment)")
      }
      await again.close()
      #expect(try left.copies() == ["one.db", "two.db"], "\(moment)")
      for name in ["one", "two"] {
        try left.restore(name)
        let restored = try await open(left)
        try await other.expectFilled(restored)
        let found = try #require(try await restored.loaded(wiped), "\(moment)")
        #expect(found.identity == identity, "\(moment)")
        await restored.close()
      }
    }
    let moments = snapshots.all.map(\.moment)
    #expect(moments.contains(.committing) && moments.last == .editingCopies, "\(moments)")
    #expect(moments.count { $0 == .emptyingLog } >= 2, "the log is emptied before and after the change")
  }

  @Test("After a kill while a backup is changed, the key is removed from it again, and the backup opens")
  func aKillWhileABackupIsChanged() async throws {
    let directory = try TemporaryDirectory()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: snapshots.tuning(of: directory) { $0 == .editedCopy })
    let (wiped, other) = (try Sample("wiped"), try Sample("other"))
    for sample in [wiped, other] { _ = try await store.commit(sample.fill) }
    let keys = try directory.wrappedKeys()
    _ = try await store.backUp(name: "copy", keep: 3)
    snapshots.start()
    _ = try await store.commit(wiped.change(.wipe))
    snapshots.stop()
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    await store.close()
    #expect(snapshots.all.count == 1)
    let left = try #require(snapshots.all.first?.directory)
    #expect(try left.filesContaining(destroyed) == ["backups/copy.db", "backups/copy.db-journal"])
    let again = try await open(left)
    // The journal of the second removal is there for a moment.
    try await eventually { try left.filesContaining(destroyed) == [] }
    await again.close()
    // The first removal has changed the time of the file.
    #expect(again.backups.map(\.createdAt) == [TestClock().now])
    #expect(try left.copies() == ["copy.db"])
    try left.restore("copy")
    let restored = try await open(left)
    try await other.expectFilled(restored)
    #expect(try await restored.loaded(wiped)?.identity == nil)
    await restored.close()
  }

  @Test("While a destroyed key is removed from the backups, the wipe waits and other changes do not")
  func othersAreNotHeldUp() async throws {
    let directory = try TemporaryDirectory()
    let (began, gate) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
    var tuning = StoreTuning()
    tuning.at = { moment, _ in
      guard moment == .editingCopies else { return }
      began.continuation.yield()
      _ = gate.wait(timeout: .now() + 60)
    }
    let store = try await open(directory, tuning: tuning)
    let (wiped, other) = (try Sample("wiped"), try Sample("other"))
    for sample in [wiped, other] { _ = try await store.commit(sample.fill) }
    let keys = try directory.wrappedKeys()
    _ = try await store.backUp(name: "copy", keep: 3)
    let (ended, end) = AsyncStream<Bool>.makeStream()
    Task {
      let result = try? await store.commit(wiped.change(.wipe))
      end.yield(result?.unfinished == nil && result != nil)
    }
    for await _ in began.stream.prefix(1) {}
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    for _ in 0..<3 { _ = try await store.commit(other.change(.putValue(key: "draft", value: "x", limit: 100))) }
    #expect(try directory.filesContaining(destroyed) == ["backups/copy.db"], "the wipe can't be done yet")
    // The next removal is for a second wipe, which comes meanwhile.
    async let second = store.commit(other.change(.wipe))
    gate.signal()
    #expect(await ended.first { _ in true } == true)
    #expect(try directory.filesContaining(destroyed) == [])
    gate.signal()
    #expect(try await second.unfinished == nil)
    let left = try directory.wrappedKeys()
    for key in keys where !left.contains(key) { #expect(try directory.filesContaining(key) == []) }
    await store.close()
  }

  @Test func becomesAStateOfItsOwn() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let (sample, other) = (try Sample(), try Sample("other"))
    for sample in [sample, other] { _ = try await store.commit(sample.fill) }
    let stateID = store.meta.stateID
    let cursor = store.cursors.encode(4)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    try directory.restore("copy")
    let withhold: Withholding = { _, identity in
      identity == Sample.identity
        ? WithheldIdentity(identity: "withheld", events: [.init(.authenticationFailed)]) : nil
    }
    let restored = try await open(directory, withhold: withhold)
    #expect(restored.meta.copiedAt == TestClock().now)
    // A restored backup gets a new state ID, which makes cursors issued before the backup foreign.
    #expect(restored.meta.stateID != stateID && restored.cursors.read(cursor) == .foreign)
    for sample in [sample, other] {
      let loaded = try await restored.loaded(sample)
      #expect(loaded?.identity == "withheld")
      #expect(loaded?.pushes.count == 1 && loaded?.outbox.count == 1)
      #expect(try await restored.storageValue(of: sample.uuid, key: "draft")?.value == "hello")
    }
    #expect(
      try await restored.events(after: 4, limit: 10).map(\.type) == [.authenticationFailed, .authenticationFailed])
    let before = try await restored.load().instances
    await restored.close()
    // Identities are withheld only at the first opening after the restore.
    let again = try await open(directory, withhold: { _, _ in WithheldIdentity(identity: "again") })
    #expect(again.meta.copiedAt == nil)
    #expect(try await again.load().instances == before)
    await again.close()
  }

  @Test func keepsSoManyOfItsOwnAndAllOthers() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock)
    _ = try await store.commit(Sample().create)
    _ = try await store.backUp(name: "mine", keep: 2)
    for _ in 0..<4 {
      clock.advance(by: 10)
      _ = try await store.backUp(keep: 2)
    }
    _ = try await store.backUp(keep: 2)
    #expect(
      try directory.copies() == ["auto-20270115-080040-2.db", "auto-20270115-080040.db", "mine.db"])
    for name in ["mine", "Upper", "a/b", "..", "", "auto-1", String(repeating: "x", count: 65)] {
      await #expect(throws: RPCError.self) { _ = try await store.backUp(name: name, keep: 2) }
    }
    #expect(try directory.copies().count == 3)
    await store.close()
  }

  @Test func leavesNoHalfCopy() async throws {
    let directory = try TemporaryDirectory()
    let faults = Faults()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: faults.tuning)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    faults.fail(1) { $0 == .copied }
    #expect(await reason { _ = try await store.backUp(name: "copy", keep: 3) } == .storeUnavailable)
    #expect(try directory.copies() == [] && store.health == .ok)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    // A kill leaves a partial backup, which the next start removes.
    let second = try await open(directory, tuning: snapshots.tuning(of: directory))
    snapshots.start()
    _ = try await second.backUp(name: "other", keep: 3)
    snapshots.stop()
    await second.close()
    let left = try #require(snapshots.all.first { $0.moment == .copied }?.directory)
    #expect(try left.copies().contains(".partial"))
    let again = try await open(left)
    #expect(again.backups.map(\.name) == ["copy"])
    #expect(try left.copies() == ["copy.db"])
    let keys = try left.wrappedKeys()
    _ = try await again.commit(sample.change(.wipe))
    let present = try left.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    #expect(try left.filesContaining(destroyed) == [])
    _ = try await again.backUp(name: "other", keep: 3)
    #expect(try left.copies() == ["copy.db", "other.db"])
    await again.close()
  }
}
