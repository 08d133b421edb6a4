import Foundation
import SDKProtocol
import Testing

@testable import StateStore

/// Detection of a database that is older than the one last in use.
@Suite struct RollbackTests {
  private static let files = ["state.db", "state.db-wal", "state.db-shm"]

  /// Returns the contents of the database's files, without the other files of the state.
  private func keep(_ directory: TemporaryDirectory) throws -> [String: Data] {
    try directory.files().filter { Self.files.contains($0.key) }
  }

  private func putBack(_ kept: [String: Data], _ directory: TemporaryDirectory) throws {
    for name in Self.files {
      let file = URL(fileURLWithPath: directory.state + "/" + name)
      try? FileManager.default.removeItem(at: file)
      try kept[name]?.write(to: file)
    }
  }

  @Test("A database put back after a wipe, a restart or a restore is noticed and treated as a backup")
  func anOlderDatabaseIsNoticed() async throws {
    for step in ["wipe", "restart", "restore"] {
      let directory = try TemporaryDirectory()
      let sample = try Sample()
      let store = try await open(directory)
      _ = try await store.commit(sample.fill)
      _ = try await store.backUp(name: "copy", keep: 3)
      let kept = try keep(directory)
      let id = store.meta.stateID
      if step == "wipe" { _ = try await store.commit(sample.change(.wipe)) }
      await store.close()
      if step == "restore" {
        _ = try StateRestoration.run(directory: directory.state, from: .newest)
        await (try open(directory)).close()
      }
      try putBack(kept, directory)
      let again = try await open(directory)
      #expect(again.meta.notice?.text.contains("older") == true, "\(step)")
      #expect(again.meta.stateID != id && again.meta.copiedAt == nil)
      try await sample.expectFilled(again)
      await again.close()
      // The notice is given once. From then on this database is the current one.
      let third = try await open(directory)
      #expect(third.meta.notice == nil && third.notices.count == 1)
      await third.close()
    }
  }

  @Test("A backup that was made later shows that a database is older")
  func aLaterBackupShowsIt() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let first = try await open(directory)
    _ = try await first.commit(sample.fill)
    await first.close()
    let kept = try keep(directory)
    let second = try await open(directory)
    _ = try await second.backUp(name: "copy", keep: 3)
    await second.close()
    try putBack(kept, directory)
    try FileManager.default.removeItem(atPath: directory.state + "/generation")
    let again = try await open(directory)
    #expect(again.meta.notice?.text.contains("older") == true)
    await again.close()
  }

  @Test("What a kill leaves at any moment is not taken for an older database")
  func aKillIsNotNoticed() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let snapshots = Snapshots()
    let store = try await open(directory, tuning: snapshots.tuning(of: directory))
    snapshots.start()
    _ = try await store.commit(sample.fill)
    _ = try await store.commit(sample.change(.wipe))
    _ = try await store.backUp(name: "copy", keep: 3)
    _ = try await store.commit(sample.change(.deleteOutbox(id: "entry")))
    _ = try await store.rotateKey()
    snapshots.stop()
    await store.close()
    #expect(snapshots.all.count > 8)
    for (moment, copy) in snapshots.all {
      let again = try await open(copy)
      #expect(again.meta.notice == nil, "\(moment)")
      await again.close()
    }
  }

  @Test(
    "A record beside the database that says nothing is written anew", arguments: ["", "x", "a b\n", "\u{1B}[2J 5\n"])
  func anUnreadableRecordIsWrittenAnew(text: String) async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    let file = URL(fileURLWithPath: directory.state + "/generation")
    let before = try Data(contentsOf: file)
    try Data(text.utf8).write(to: file)
    let store = try await open(directory)
    #expect((store.meta.notice == nil) == !text.contains(" 5"))
    await store.close()
    #expect(try Data(contentsOf: file).count >= before.count)
    await (try open(directory)).close()
  }
}
