import Foundation
import Linux
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// States whose database is missing, and states whose first start was interrupted.
@Suite struct RemainsTests {
  private func failure(_ directory: TemporaryDirectory, rootKey: RootKeySource = .file) async -> StoreOpenError? {
    do {
      await (try open(directory, rootKey: rootKey)).close()
      return nil
    } catch {
      return error
    }
  }

  private func remove(_ directory: TemporaryDirectory, _ names: String...) {
    for name in names { try? FileManager.default.removeItem(atPath: directory.state + "/" + name) }
  }

  private let key = RootKey(bytes: Array(repeating: 3, count: 32))

  @Test("A first start that was interrupted is begun again")
  func anInterruptedFirstStartIsBegunAgain() async throws {
    for content in [nil, Data(), Data(repeating: 0, count: 0)] as [Data?] {
      let directory = try TemporaryDirectory()
      try FileManager.default.createDirectory(
        atPath: directory.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      // The first start ended after half of the root key was written, before anything was written to the database.
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: directory.state + "/root.key.new"))
      if let content { try content.write(to: URL(fileURLWithPath: directory.database)) }
      #expect(await failure(directory) == nil)
      #expect(await failure(directory) == nil)
      #expect(try directory.files()["root.key"]?.count == 32 && directory.files()["root.key.new"] == nil)
    }
  }

  @Test("A key that has not got its name when the daemon is killed gets it at the next start")
  func aPendingKeyGetsItsName() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.fill)
    await store.close()
    let path = directory.state + "/root.key"
    try FileManager.default.moveItem(atPath: path, toPath: path + ".new")
    let again = try await open(directory)
    try await sample.expectFilled(again)
    await again.close()
    #expect(try directory.files()["root.key"]?.count == 32 && directory.files()["root.key.new"] == nil)
  }

  @Test("A database without tables beside a key or backups is a lost state", arguments: [true, false])
  func aDatabaseWithoutTablesIsLost(hasBackup: Bool) async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.fill)
    if hasBackup { _ = try await store.backUp(name: "copy", keep: 3) }
    await store.close()
    remove(directory, "state.db", "state.db-wal", "state.db-shm")
    let connection = try DatabaseConnection(path: directory.database)
    try connection.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = WAL; VACUUM") }
    try connection.close()
    if hasBackup {
      let again = try await open(directory)
      #expect(again.meta.repair?.backup.name == "copy")
      try await sample.expectFilled(again)
      await again.close()
    } else {
      #expect(await failure(directory) == .corrupt(StateUnlocking.lost))
    }
  }

  @Test("With a credential, backups show that there was a state")
  func backupsShowThatThereWasAState() async throws {
    let directory = try TemporaryDirectory()
    let root = try #require(key)
    let sample = try Sample()
    let store = try await open(directory, rootKey: .credential(root))
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    remove(directory, "state.db", "state.db-wal", "state.db-shm")
    // The store does not create an empty state in place of the lost database, neither under another key nor without
    // one.
    let other = try #require(RootKey(bytes: Array(repeating: 4, count: 32)))
    #expect(await failure(directory, rootKey: .credential(other)) != nil)
    guard case .keyMissing = await failure(directory) else {
      Issue.record("made a key")
      return
    }
    #expect(try directory.files()["state.db"] == nil)
    let again = try await open(directory, rootKey: .credential(root))
    #expect(again.meta.repair?.damage == StateUnlocking.lost)
    try await sample.expectFilled(again)
    await again.close()
  }

  @Test("At most sixteen backups are tried, at a restore and at a repair")
  func aBoundedNumberOfBackupsIsTried() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    _ = try await store.backUp(name: "good", keep: 3)
    await store.close()
    let folder = directory.state + "/backups"
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: folder + "/good.db")
    for index in 0..<40 {
      let bad = "\(folder)/bad-\(index).db"
      try Data("bad".utf8).write(to: URL(fileURLWithPath: bad))
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 2)], ofItemAtPath: bad)
    }
    do {
      _ = try StateRestoration.run(directory: directory.state, from: .newest)
      Issue.record("looked at all")
    } catch StoreOpenError.noBackup(let why) {
      #expect(why.components(separatedBy: "bad-").count - 1 == BackupFolder.triedCount, "\(why)")
    }
    try directory.damage()
    guard case .corrupt = await failure(directory) else {
      Issue.record("looked at all")
      return
    }
    #expect(try StateRestoration.run(directory: directory.state, from: .named("good")).restored == "good")
  }

  @Test("A link or a FIFO among the backups is not read, and a link in place of their folder is refused")
  func linksAreNotFollowed() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    _ = try await store.backUp(name: "good", keep: 3)
    let folder = directory.state + "/backups"
    try FileManager.default.createSymbolicLink(atPath: folder + "/link.db", withDestinationPath: folder + "/good.db")
    #expect(mkfifo(folder + "/fifo.db", 0o600) == 0)
    #expect(store.backups.map(\.name) == ["good"])
    #expect(throws: StoreOpenError.self) { _ = try OwnedDescriptor(readingFile: folder + "/fifo.db") }
    #expect(throws: StoreOpenError.self) { _ = try OwnedDescriptor(readingFile: folder + "/link.db") }
    let away = directory.path + "/away"
    try FileManager.default.moveItem(atPath: folder, toPath: away)
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: away)
    await #expect(throws: SDKError.self) { _ = try await store.backUp(name: "next", keep: 3) }
    await store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: away).count == 3)
  }

  @Test("The directory is locked, so that a file renamed in it lets nobody in")
  func theDirectoryIsLocked() async throws {
    let directory = try TemporaryDirectory()
    // Earlier releases lock this file, so the store respects a lock on it too.
    try FileManager.default.createDirectory(
      atPath: directory.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let former = directory.state + "/lock"
    try Data().write(to: URL(fileURLWithPath: former))
    let store = try await open(directory)
    for _ in 0..<2 {
      #expect(await failure(directory) == .stateInUse(directory: directory.state))
      #expect(throws: StoreOpenError.stateInUse(directory: directory.state)) {
        _ = try StateRestoration.run(directory: directory.state, from: .nothing)
      }
      if FileManager.default.fileExists(atPath: former) {
        try FileManager.default.moveItem(atPath: former, toPath: former + "2")
      }
    }
    await store.close()
    try FileManager.default.moveItem(atPath: former + "2", toPath: former)
    let held = try OwnedDescriptor(opening: former, O_RDWR)
    #expect(flock(held.raw, LOCK_EX | LOCK_NB) == 0)
    #expect(await failure(directory) == .stateInUse(directory: directory.state))
  }

  @Test("A key is tried on the state without changing it, also while it is in use")
  func aKeyIsTriedOnTheState() async throws {
    let directory = try TemporaryDirectory()
    let (root, other) = (try #require(key), RootKey(bytes: Array(repeating: 4, count: 32)))
    #expect(try StateKeyCheck(directory: directory.state, key: root).isSealed == false)
    let store = try await open(directory, rootKey: .credential(root))
    _ = try await store.backUp(name: "copy", keep: 3)
    for isOpen in [true, false] {
      if !isOpen { await store.close() }
      let right = try StateKeyCheck(directory: directory.state, key: root)
      #expect(right.isSealed && right.keyOpens && !right.fileOpens)
      let wrong = try StateKeyCheck(directory: directory.state, key: other)
      #expect(wrong.isSealed && !wrong.keyOpens)
    }
    // Without a database, the check uses the backups.
    remove(directory, "state.db", "state.db-wal", "state.db-shm")
    #expect(try StateKeyCheck(directory: directory.state, key: root).keyOpens)
    #expect(try StateKeyCheck(directory: directory.state, key: other).isSealed)
    #expect(try directory.files()["state.db"] == nil)
    let file = try TemporaryDirectory()
    await (try open(file)).close()
    let check = try StateKeyCheck(directory: file.state, key: nil)
    #expect(check.isSealed && check.fileOpens && !check.keyOpens)
  }
}
