import Foundation
import Glibc
import JSONRPC
import Logging
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// The removal of destroyed keys from backups that can't be changed at that moment.
@Suite struct BackupRemovalTests {
  /// A cause for which a backup can't be changed for a while.
  enum Obstacle: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case reader, fullDisk, readOnlyDisk, journalThatCantBeOpened, journalThatCantBeRead, newerSchema

    var testDescription: String { rawValue }

    /// The words with which health names the cause.
    var words: String {
      switch self {
      case .reader: "another program uses the file"
      case .fullDisk: "the disk is full"
      case .readOnlyDisk: "the file can't be written"
      case .journalThatCantBeOpened: "can't be opened"
      case .journalThatCantBeRead: "the disk fails"
      case .newerSchema: "install the newer version"
      }
    }

    var needsDisk: Bool { self == .fullDisk || self == .readOnlyDisk }

    static var possible: [Obstacle] { allCases.filter { SmallDisk.canMount || !$0.needsDisk } }

    /// Begins and returns a function that ends it.
    func begin(on backup: String, _ disk: SmallDisk?) throws -> () throws -> Void {
      switch self {
      case .reader:
        let reader = try DatabaseConnection(path: backup, isReadOnly: true)
        try reader.writeWithoutTransaction { db in
          try db.execute(sql: "BEGIN")
          _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM instance")
        }
        return {
          try reader.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
          try reader.close()
        }
      case .fullDisk:
        try disk?.fill()
        return { disk?.free() }
      case .readOnlyDisk:
        try disk?.setReadOnly(true)
        return { try disk?.setReadOnly(false) }
      case .journalThatCantBeOpened:
        try FileManager.default.createSymbolicLink(atPath: backup + "-journal", withDestinationPath: "none/none")
        return { try FileManager.default.removeItem(atPath: backup + "-journal") }
      case .journalThatCantBeRead:
        try FileManager.default.createDirectory(atPath: backup + "-journal", withIntermediateDirectories: false)
        return { try FileManager.default.removeItem(atPath: backup + "-journal") }
      case .newerSchema:
        // The store's next attempt may hold the file at that moment.
        let database = try DatabaseConnection(path: backup, busyTimeout: 10)
        try database.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA user_version = 1000") }
        return {
          try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA user_version = \(StoreSchema.version)")
          }
          try database.close()
        }
      }
    }
  }

  private func quick() -> StoreTuning {
    var tuning = StoreTuning()
    tuning.removalPause = .milliseconds(5)
    return tuning
  }

  @Test(
    "A backup that can't be changed stays, health names it, and the removal is repeated until it succeeds",
    arguments: Obstacle.possible)
  func isRepeated(obstacle: Obstacle) async throws {
    let directory = try TemporaryDirectory()
    let disk = obstacle.needsDisk ? try SmallDisk(kilobytes: 1024, at: "/backups", in: directory) : nil
    let lines = Seen<[String]>([])
    let store = try await SQLiteStateStore.open(
      directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) }, tuning: quick())
    let (wiped, other) = (try Sample("wiped"), try Sample("other"))
    for sample in [wiped, other] { _ = try await store.commit(sample.fill) }
    let keys = try directory.wrappedKeys()
    _ = try await store.backUp(name: "one", keep: 3)
    let end = try obstacle.begin(on: directory.state + "/backups/one.db", disk)
    #expect(try await store.commit(wiped.change(.wipe)).unfinished == nil)
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    try await eventually { try directory.filesContaining(destroyed) == ["backups/one.db"] }
    #expect(store.unfinishedBackups.map(\.name) == ["one"])
    #expect(store.unfinishedBackups.first?.problem.contains(obstacle.words) == true, "\(store.unfinishedBackups)")
    #expect(store.health == .ok)
    // The next wipe and a restart change nothing.
    #expect(try await store.commit(wiped.change(.wipe)).unfinished == nil)
    await store.close()
    let again = try await open(directory, tuning: quick())
    try await eventually { again.unfinishedBackups.map(\.name) == ["one"] }
    // The journal of an attempt in progress holds the key as well, until that attempt is rolled back.
    try await eventually { try directory.filesContaining(destroyed) == ["backups/one.db"] }
    try end()
    try await eventually { again.unfinishedBackups.isEmpty }
    #expect(try directory.filesContaining(destroyed) == [])
    #expect(lines.value.count { $0.contains("The backup one still holds keys") } == 1)
    await again.close()
    try directory.restore("one")
    let restored = try await open(directory)
    #expect(try await restored.loaded(wiped)?.identity == nil)
    #expect(try await restored.loaded(other)?.identity == Sample.identity)
    await restored.close()
  }

  @Test("Backups that can't be changed prevent no removal from the others, and health names all of them")
  func othersAreChanged() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory, tuning: quick())
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    let keys = try directory.wrappedKeys()
    let names = ["five", "four", "one", "three", "two"]
    for name in names { _ = try await store.backUp(name: name, keep: 3) }
    let read = ["four", "three"]
    let ends = try read.map { try Obstacle.reader.begin(on: directory.state + "/backups/\($0).db", nil) }
    _ = try await store.commit(sample.change(.wipe))
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    #expect(store.unfinishedBackups.map(\.name) == read)
    // The journal of an attempt in progress holds the key as well, until that attempt is rolled back.
    try await eventually { try directory.filesContaining(destroyed).sorted() == read.map { "backups/\($0).db" } }
    for end in ends { try end() }
    try await eventually { store.unfinishedBackups.isEmpty }
    #expect(try directory.filesContaining(destroyed) == [])
    #expect(try directory.copies() == names.map { "\($0).db" })
    await store.close()
  }

  @Test("A removal that ends after a later one does not replace the backups that the later one names")
  func anOlderRunReplacesNoNewerOne() async throws {
    let directory = try TemporaryDirectory()
    let (runs, gate) = (Seen(0), DispatchSemaphore(value: 0))
    // A directory in the place of its journal keeps a backup from being read.
    let journals = ["one", "two"].map { directory.state + "/backups/\($0).db-journal" }
    var tuning = StoreTuning()
    // No third run comes.
    tuning.removalPause = .seconds(3600)
    tuning.at = { moment, _ in
      guard moment == .editingCopies else { return }
      let run = runs.update { count in
        count += 1
        return count
      }
      if run == 1 {
        _ = gate.wait(timeout: .now() + 60)
      } else {
        try FileManager.default.removeItem(atPath: journals[0])
        try FileManager.default.createDirectory(atPath: journals[1], withIntermediateDirectories: false)
      }
    }
    let store = try await open(directory, tuning: tuning)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    for name in ["one", "two"] { _ = try await store.backUp(name: name, keep: 3) }
    try FileManager.default.createDirectory(atPath: journals[0], withIntermediateDirectories: false)
    async let wipe = store.commit(sample.change(.wipe))
    try await eventually { runs.value == 1 }
    // The backup makes the second run, and holds the writer's queue, on which the first one ends.
    async let backup = store.backUp(name: "three", keep: 3)
    try await eventually { store.longWork != nil }
    gate.signal()
    _ = try await (wipe, backup)
    await store.applyRetention()
    #expect(runs.value == 2)
    #expect(store.unfinishedBackups.map(\.name) == ["two"])
    await store.close()
  }

  @Test("Several backups are changed at the same time, and on no thread of the task pool")
  func threads() throws {
    let directory = try TemporaryDirectory()
    let folder = BackupFolder(path: directory.state + "/backups")
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    for name in ["one", "two"] { try Data().write(to: URL(fileURLWithPath: folder.file(name))) }
    let (begun, names, both) = (Seen(0), Seen<Set<String>>([]), DispatchSemaphore(value: 0))
    let caller = pthread_self()
    let left = BackupEditor(folder: folder).each { _ in
      if pthread_self() != caller {
        let name = try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        names.update { names in _ = names.insert(name) }
      }
      let isFirst = begun.update { count in
        count += 1
        return count == 1
      }
      if isFirst { _ = both.wait(timeout: .now() + 60) } else { both.signal() }
    }
    #expect(left.isEmpty)
    #expect(names.value == ["sdkd-backups\n"])
    #expect(try directory.copies() == ["one.db", "two.db"])
  }

  @Test("A removal that fails at the start is repeated until it succeeds, without another change")
  func aStartRepeatsIt() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    let keys = try directory.wrappedKeys()
    _ = try await store.backUp(name: "one", keep: 3)
    let end = try Obstacle.reader.begin(on: directory.state + "/backups/one.db", nil)
    _ = try await store.commit(sample.change(.wipe))
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    await store.close()
    try end()
    #expect(try directory.filesContaining(destroyed) == ["backups/one.db"])
    let faults = Faults()
    faults.fail(3) { $0 == .emptyingLog }
    let again = try await open(directory, tuning: faults.tuning)
    try await eventually { faults.count == 3 && again.health == .ok }
    // The journal of the removal is there for a moment.
    try await eventually { try directory.filesContaining(destroyed) == [] }
    #expect(again.unfinishedBackups.isEmpty)
    await again.close()
  }

  @Test("A backup without a destroyed key needs no change, even if it can't be changed")
  func aBackupWithoutTheKeyIsOnlyRead() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory, tuning: quick())
    _ = try await store.backUp(name: "before", keep: 3)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "with", keep: 3)
    let keys = try directory.wrappedKeys()
    let other = try DatabaseConnection(path: directory.state + "/backups/before.db")
    try other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
    _ = try await store.commit(sample.change(.wipe))
    #expect(store.unfinishedBackups.isEmpty, "\(store.unfinishedBackups)")
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    #expect(try directory.filesContaining(destroyed) == [])
    try other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
    try other.close()
    #expect(try await store.rotateKey() > 0)
    await store.close()
  }

  /// The state in which a pending removal from the backup `one` is repeated.
  enum Successor: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// The state that noted the removal.
    case none
    /// A state from the backup `two`, which was made while the removal was pending.
    case backup
    /// A state from the backup `before`, which was made before the wipe. The notes are those of the replaced state.
    case olderBackup

    var testDescription: String { rawValue }
  }

  @Test("A backup made while a removal is pending keeps the data of its time", arguments: Successor.allCases)
  func aNewerBackupIsLeftAlone(successor: Successor) async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory, tuning: quick())
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    let keys = try directory.wrappedKeys()
    for name in ["one", "before"] { _ = try await store.backUp(name: name, keep: 3) }
    let end = try Obstacle.reader.begin(on: directory.state + "/backups/one.db", nil)
    _ = try await store.commit(sample.change(.wipe, .identify("next user")))
    let present = try directory.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    _ = try await store.backUp(name: "two", keep: 3)
    #expect(store.unfinishedBackups.map(\.name) == ["one"])
    #expect(await reason { _ = try await store.rotateKey() } == .storeUnavailable)
    #expect(store.health == .ok)
    let last: SQLiteStateStore
    switch successor {
    case .none: last = store
    case .backup:
      await store.close()
      try directory.restore("two")
      last = try await open(directory, tuning: quick())
      #expect(try await last.loaded(sample)?.identity == "next user")
    case .olderBackup:
      await store.close()
      _ = try StateRestoration.run(directory: directory.state, from: .named("before"))
      last = try await open(directory, tuning: quick())
      #expect(try await last.loaded(sample)?.identity == nil)
      _ = try await last.commit(sample.change(.identify("next user")))
    }
    try await eventually { last.unfinishedBackups.map(\.name) == ["one"] }
    _ = try await last.backUp(name: "three", keep: 3)
    try end()
    try await eventually { last.unfinishedBackups.isEmpty }
    #expect(try directory.filesContaining(destroyed) == [])
    await last.close()
    for name in ["two", "three", "one"] {
      try directory.restore(name)
      let restored = try await open(directory)
      #expect(try await restored.loaded(sample)?.identity == (name == "one" ? nil : "next user"), "\(name)")
      await restored.close()
    }
  }

  @Test("A restore names the instances whose data was destroyed in the backup, once each")
  func losses() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let (wiped, deleted, empty, kept) = (
      try Sample("wiped"), try Sample("deleted"), try Sample("empty"), try Sample("kept")
    )
    for sample in [wiped, deleted, kept] { _ = try await store.commit(sample.fill) }
    _ = try await store.commit(empty.create)
    _ = try await store.backUp(name: "copy", keep: 3)
    for sample in [wiped, wiped, empty, deleted] { _ = try await store.commit(sample.change(.wipe)) }
    _ = try await store.commit(deleted.change(.wipe, .delete))
    await store.close()

    let done = try StateRestoration.run(directory: directory.state, from: .named("copy"))
    #expect(done.losses.wiped == .init(count: 1, ids: [wiped.id]))
    #expect(done.losses.deleted == .init(count: 1, ids: [deleted.id]))
    let restored = try await open(directory)
    #expect(restored.meta.losses == done.losses)
    #expect(restored.meta.losses.sentences.count == 2)
    try await kept.expectFilled(restored)
    // A backup of the restored state has no losses.
    _ = try await restored.backUp(name: "next", keep: 3)
    await restored.close()
    let again = try await open(directory)
    #expect(again.meta.losses == BackupLosses())
    await again.close()
    #expect(try StateRestoration.run(directory: directory.state, from: .named("next")).losses == BackupLosses())
  }

  @Test("A restore also names an instance whose user had no credential, but none that had no user")
  func lossesOfUsers() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let user = try JSONValueEncoder.encode(
      User(externalId: "u", authenticationType: .jwt, authenticated: true, verified: true))
    let identities: [String: JSON] = [
      "fallback": ["user": user], "nobody": ["user": try JSONValueEncoder.encode(User.none)],
      "service": ["services": ["chat": ["user": user], "messaging": ["user": try JSONValueEncoder.encode(User.none)]]],
    ]
    let samples = try identities.keys.sorted().map { try Sample($0) }
    for sample in samples {
      _ = try await store.commit(sample.change(.create(sample.instance), .identify(identities[sample.id.name])))
    }
    _ = try await store.backUp(name: "copy", keep: 3)
    for sample in samples { _ = try await store.commit(sample.change(.wipe)) }
    await store.close()
    let losses = try StateRestoration.run(directory: directory.state, from: .named("copy")).losses
    #expect(losses.wiped == .init(count: 2, ids: [samples[0].id, samples[2].id]))
    #expect(losses.deleted.count == 0)
  }

  @Test("A restore names at most 20 instances of each loss, and the number of the others")
  func manyLosses() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let samples = try (10..<33).map { try Sample("i\($0)") }
    for sample in samples { _ = try await store.commit(sample.fill) }
    _ = try await store.backUp(name: "copy", keep: 3)
    for sample in samples { _ = try await store.commit(sample.change(.wipe)) }
    await store.close()
    let losses = try StateRestoration.run(directory: directory.state, from: .named("copy")).losses
    #expect(losses.wiped.count == 23 && losses.wiped.ids == samples.prefix(20).map(\.id))
    #expect(losses.sentences.first?.hasSuffix(" i28, i29 and 3 more.") == true, "\(losses.sentences)")
  }

  @Test("A backup of a former version that the start could not change is not taken for a damaged one")
  func aFormerVersionIsNoDamage() async throws {
    let directory = try TemporaryDirectory()
    try VersionOneState.write(to: directory)
    let (backups, files) = (directory.state + "/backups", FileManager.default)
    try files.createDirectory(atPath: backups, withIntermediateDirectories: true)
    try files.copyItem(atPath: directory.database, toPath: backups + "/one.db")
    let end = try Obstacle.reader.begin(on: backups + "/one.db", nil)
    let store = try await open(directory, tuning: quick())
    try end()
    _ = try await store.commit(
      InstanceChange(
        uuid: VersionOneState.frontDesk, id: try #require(InstanceID("front-desk")), kind: KindName("test.kind"),
        parts: [.wipe]))
    // Each of the repeated removals has a journal for a moment.
    try await eventually { try directory.copies() == ["one.db"] }
    #expect(store.unfinishedBackups.map(\.name) == ["one"])
    await store.close()
    let again = try await open(directory, tuning: quick())
    try await eventually { again.unfinishedBackups.isEmpty && again.health == .ok }
    #expect(try directory.copies() == ["one.db"])
    await again.close()
  }

  @Test("A backup that still lies under a former master key loses the user, and not the instance")
  func aFormerMasterKey() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory, tuning: quick())
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "one", keep: 3)
    let end = try Obstacle.journalThatCantBeRead.begin(on: directory.state + "/backups/one.db", nil)
    #expect(await reason { _ = try await store.rotateKey() } == .storeUnavailable)
    try end()
    _ = try await store.commit(sample.change(.wipe))
    #expect(store.unfinishedBackups.map(\.name) == ["one"])
    #expect(store.unfinishedBackups.first?.problem.contains("former master key") == true)
    await store.close()
    // The start rewraps the backup, and another backup first waits for the removal.
    let again = try await open(directory, tuning: quick())
    _ = try await again.backUp(name: "two", keep: 3)
    #expect(again.unfinishedBackups.isEmpty)
    await again.close()
    let losses = try StateRestoration.run(directory: directory.state, from: .named("one")).losses
    #expect(losses.wiped.ids == [sample.id] && losses.deleted.count == 0)
  }

  @Test("A deleted backup ends the removal from it")
  func aDeletedBackupIsNoObstacle() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory, tuning: quick())
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "one", keep: 3)
    _ = try Obstacle.newerSchema.begin(on: directory.state + "/backups/one.db", nil)
    _ = try await store.commit(sample.change(.delete))
    #expect(store.unfinishedBackups.map(\.name) == ["one"])
    unlink(directory.state + "/backups/one.db")
    try await eventually { store.unfinishedBackups.isEmpty }
    #expect(try directory.copies() == [])
    await store.close()
  }

  @Test("SQLite's files beside a deleted backup are removed with the next wipe and at the next start, and no others")
  func orphansAreRemoved() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "kept", keep: 3)
    let backups = directory.state + "/backups/"
    let orphans = ["gone.db-journal", "gone.db-shm", "gone.db-wal"]
    func write(_ names: [String]) throws {
      for name in names { try Data("old key".utf8).write(to: URL(fileURLWithPath: backups + name)) }
    }
    try write(orphans + ["gone.txt-journal", "gone.txt-wal", ".hidden.db-journal"])
    try FileManager.default.createDirectory(atPath: backups + "folder.db-journal", withIntermediateDirectories: false)
    // An empty journal undoes nothing.
    try Data().write(to: URL(fileURLWithPath: backups + "kept.db-journal"))
    let left = [".hidden.db-journal", "folder.db-journal", "gone.txt-journal", "gone.txt-wal", "kept.db"]
    try BackupFolder(in: store.directory).discardLeftovers()
    #expect(try directory.copies() == left + ["kept.db-journal"])
    try write(orphans)
    _ = try await store.commit(sample.change(.wipe))
    #expect(try directory.copies() == left)
    #expect(store.unfinishedBackups.isEmpty)
    await store.close()
    try write(orphans)
    let again = try await open(directory)
    #expect(try directory.copies() == left)
    await again.close()
  }

  @Test(
    "A backup that can't be checked now is not taken for a damaged one",
    arguments: [Obstacle.journalThatCantBeOpened, .journalThatCantBeRead])
  func aPassingFailureIsNoDamage(obstacle: Obstacle) async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    let end = try obstacle.begin(on: directory.database, nil)
    do {
      _ = try CopyCheck.check(directory.database, roots: nil, at: TestClock().now)
      Issue.record("marked a database that can't be written")
    } catch {
      guard case .unwritable(let why) = error else { throw error }
      #expect(why.contains(obstacle.words), "\(why)")
    }
    try end()
    #expect(try CopyCheck.check(directory.database, roots: nil, at: TestClock().now).copiedAt == TestClock().now)
  }

  /// A cause for which a backup never opens again.
  enum Damage: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case junk, empty, cutOff, foreignTable

    var testDescription: String { rawValue }

    func apply(to backup: String) throws {
      switch self {
      case .junk: try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: backup))
      case .empty: try Data().write(to: URL(fileURLWithPath: backup))
      case .cutOff:
        let half = try FileHandle(forUpdating: URL(fileURLWithPath: backup))
        try half.truncate(atOffset: 8192)
        try half.close()
      case .foreignTable:
        let database = try DatabaseConnection(path: backup)
        try database.writeWithoutTransaction { db in try db.execute(sql: "CREATE TABLE foreign_table (a)") }
        try database.close()
      }
    }
  }

  @Test("A damaged backup is deleted, and the journal says so", arguments: Damage.allCases)
  func aDamagedBackupIsDeleted(damage: Damage) async throws {
    let directory = try TemporaryDirectory()
    let lines = Seen<[String]>([])
    let store = try await SQLiteStateStore.open(
      directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    try damage.apply(to: directory.state + "/backups/copy.db")
    #expect(try await store.commit(sample.change(.wipe)).unfinished == nil)
    #expect(try directory.copies() == [])
    #expect(store.unfinishedBackups.isEmpty)
    #expect(lines.value.contains { $0.contains("The backup copy was deleted: it is damaged") })
    await store.close()
  }
}
