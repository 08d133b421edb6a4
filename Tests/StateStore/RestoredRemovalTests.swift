import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// Removals of destroyed keys from the backups that were not finished when a backup became the state.
@Suite struct RestoredRemovalTests {
  /// A part of a change that destroys a key.
  enum Destruction: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case wipe, deletion, delivery

    var testDescription: String { rawValue }

    var part: InstanceChange.Part {
      switch self {
      case .wipe: .wipe
      case .deletion: .delete
      case .delivery: .deleteOutbox(id: "entry")
      }
    }
  }

  /// Returns a state as a kill after the COMMIT of a change leaves it, and the key that the change has destroyed. The
  /// backups `one` and `two` still have the key, and the note of it is in the write-ahead log only.
  private func killed(
    by part: InstanceChange.Part, _ sample: Sample
  ) async throws -> (directory: TemporaryDirectory, key: Data) {
    let directory = try TemporaryDirectory()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: snapshots.tuning(of: directory))
    _ = try await store.commit(sample.fill)
    let keys = try directory.wrappedKeys()
    for name in ["one", "two"] { _ = try await store.backUp(name: name, keep: 3) }
    snapshots.start()
    _ = try await store.commit(sample.change(part))
    snapshots.stop()
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    await store.close()
    // The log is emptied before the change and after its COMMIT.
    let left = try #require(snapshots.all.last { $0.moment == .emptyingLog }?.directory)
    #expect(try left.files()["state.db-wal"]?.isEmpty == false)
    #expect(try backups(of: left, with: destroyed) == ["backups/one.db", "backups/two.db"])
    return (left, destroyed)
  }

  private func backups(of directory: TemporaryDirectory, with key: Data) throws -> [String] {
    try directory.filesContaining(key).filter { $0.hasPrefix("backups/") }
  }

  /// Makes a state damaged whose notes can still be read.
  private func addTable(to directory: TemporaryDirectory) throws {
    let raw = try RawDatabase(directory)
    try raw.execute("CREATE TABLE foreign_table (a)")
    try raw.close()
  }

  @Test("After a kill, a restore and a repair carry the removals on, and the former state stays as it was")
  func removalsAreCarriedOn() async throws {
    for isRepair in [false, true] {
      let (directory, key) = try await killed(by: .wipe, try Sample())
      let before = try directory.files()
      if isRepair {
        try addTable(to: directory)
      } else {
        let done = try StateRestoration.run(directory: directory.state, from: .named("one"))
        #expect(!done.areRemovalsLost)
        let aside = URL(fileURLWithPath: try #require(done.setAside)).lastPathComponent
        let after = try directory.files()
        for ending in ["", "-wal"] { #expect(after[aside + ending] == before["state.db" + ending]) }
      }
      let store = try await open(directory)
      #expect(store.meta.repair?.areRemovalsLost == (isRepair ? false : nil))
      // The journal of a removal is there for a moment.
      try await eventually { (try? backups(of: directory, with: key)) == [] }
      await store.close()
    }
  }

  @Test("A removal that was not finished is made in the restored backup, too", arguments: Destruction.allCases)
  func theRestoredBackupIsChanged(destruction: Destruction) async throws {
    let sample = try Sample()
    let (directory, key) = try await killed(by: destruction.part, sample)
    _ = try StateRestoration.run(directory: directory.state, from: .named("one"))
    let restored = try await open(directory)
    let (loaded, losses) = (try await restored.loaded(sample), restored.meta.losses)
    switch destruction {
    case .wipe: #expect(loaded != nil && loaded?.identity == nil && losses.wiped.ids == [sample.id])
    case .deletion: #expect(loaded == nil && losses.deleted.ids == [sample.id])
    case .delivery: #expect(loaded?.identity == Sample.identity && loaded?.outbox == [] && losses == BackupLosses())
    }
    // Only the state that was set aside keeps the key, and a removal's journal for a moment.
    try await eventually {
      try directory.filesContaining(key).allSatisfy { $0.hasPrefix("state.db.before-restore-") }
    }
    await restored.close()
  }

  @Test("A restore and a repair say that the notes of destroyed keys are lost if the former state can't be read")
  func lostRemovalsAreReported() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    func restore() throws -> Bool {
      try StateRestoration.run(directory: directory.state, from: .named("copy")).areRemovalsLost
    }
    try directory.damage()
    #expect(try restore())
    #expect(try !restore(), "the state was readable")
    try Data().write(to: URL(fileURLWithPath: directory.database))
    #expect(try restore())
    try FileManager.default.removeItem(atPath: directory.database)
    #expect(try !restore(), "there was no state")
    for isReadable in [false, true] {
      if isReadable { try addTable(to: directory) } else { try directory.damage() }
      let again = try await open(directory)
      #expect(again.meta.repair?.areRemovalsLost == !isReadable)
      await again.close()
    }
  }

  @Test("A new state has no place for notes of destroyed keys: they are lost, if there are any")
  func aNewStateTakesNoRemovals() async throws {
    let (directory, _) = try await killed(by: .wipe, try Sample())
    #expect(try StateRestoration.run(directory: directory.state, from: .nothing).areRemovalsLost)
    #expect(try !StateRestoration.run(directory: directory.state, from: .nothing).areRemovalsLost)
  }
}
