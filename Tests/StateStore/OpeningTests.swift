import Foundation
import Logging
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

@Suite struct OpeningTests {
  /// Returns the error of opening a state; `nil` if it opens.
  private func failure(_ directory: TemporaryDirectory, rootKey: RootKeySource = .file) async -> StoreOpenError? {
    do {
      await (try open(directory, rootKey: rootKey)).close()
      return nil
    } catch {
      return error
    }
  }

  @Test func closesItsFilesToOthers() async throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let store = try await open(directory)
    _ = try await store.commit(Sample().create)
    #expect(try directory.permissions(directory.state) == 0o700)
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.state).sorted()
    #expect(files == ["failed-wipes", "generation", "root.key", "state.db", "state.db-shm", "state.db-wal"])
    for file in files { #expect(try directory.permissions(directory.state + "/" + file) == 0o600, "\(file)") }
    await store.close()
  }

  @Test func setsUpSQLiteForDurability() async throws {
    let directory = try TemporaryDirectory()
    let seen = Seen<[String]>([])
    var tuning = StoreTuning()
    tuning.at = { moment, db in
      guard case .begun = moment, let db else { return }
      let names = ["journal_mode", "synchronous", "secure_delete", "foreign_keys", "application_id"]
      seen.set(
        try names.map { name in
          switch try DatabaseValue.fetchOne(db, sql: "PRAGMA \(name)") {
          case .text(let text): "\(name)=\(text)"
          case .integer(let integer): "\(name)=\(integer)"
          default: name
          }
        })
    }
    let store = try await open(directory, tuning: tuning)
    _ = try await store.commit(Sample().create)
    #expect(
      seen.value == [
        "journal_mode=wal", "synchronous=2", "secure_delete=1", "foreign_keys=1", "application_id=1935960932",
      ])
    await store.close()
  }

  @Test func letsNoSecondOneIn() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    #expect(await failure(directory) == .stateInUse(directory: directory.state))
    #expect(StoreOpenError.stateInUse(directory: "/x").sdkError.message.contains("another sdkd"))
    await store.close()
    #expect(await failure(directory) == nil)
  }

  @Test func makesNoNewKeyForAStateThatExists() async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    let key = try Data(contentsOf: URL(fileURLWithPath: directory.state + "/root.key"))
    #expect(key.count == 32)
    try FileManager.default.removeItem(atPath: directory.state + "/root.key")
    guard case .keyMissing = await failure(directory) else {
      Issue.record("opened without its key")
      return
    }
    #expect(!FileManager.default.fileExists(atPath: directory.state + "/root.key"))
    #expect(StoreOpenError.keyMissing("").sdkError.reason == .keyMissing)

    let root = try #require(RootKey(bytes: Array(key)))
    #expect(await failure(directory, rootKey: .credential(root)) == nil)
  }

  @Test func changesNothingUnderAnotherKey() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.create)
    await store.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    let other = try #require(RootKey(bytes: Array(repeating: 7, count: 32)))
    let file = directory.state + "/root.key"
    try FileManager.default.moveItem(atPath: file, toPath: directory.path + "/root.key")
    guard case .keyMissing = await failure(directory, rootKey: .credential(other)) else {
      Issue.record("opened under another key")
      return
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: directory.database)) == before)
    try FileManager.default.moveItem(atPath: directory.path + "/root.key", toPath: file)
    let again = try await open(directory)
    #expect(try await again.loaded(sample) == sample.instance)
    await again.close()
    #expect(RootKey(bytes: []) == nil && RootKey(bytes: Array(repeating: 0, count: 33)) == nil)
  }

  @Test func refusesAKeyThatOthersCanRead() async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    let path = directory.state + "/root.key"
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect(await failure(directory) == .keyTooOpen(path: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
    guard case .keyMissing = await failure(directory) else {
      Issue.record("took half a key")
      return
    }
  }

  @Test func refusesANewerSchema() async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    let raw = try RawDatabase(directory)
    try raw.execute("PRAGMA user_version = 99")
    try raw.close()
    #expect(await failure(directory) == .newerSchema(found: 99, known: StoreSchema.version))
  }

  @Test func refusesWhatIsNotIts() async throws {
    for content in [Data("this is no database, whatever its name says".utf8), Data(repeating: 0xA5, count: 8192)] {
      let directory = try TemporaryDirectory()
      await (try open(directory)).close()
      try content.write(to: URL(fileURLWithPath: directory.database))
      guard case .corrupt = await failure(directory) else {
        Issue.record("opened garbage")
        return
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: directory.database)) == content)
    }
    let foreign = try TemporaryDirectory()
    await (try open(foreign)).close()
    let raw = try RawDatabase(foreign)
    try raw.execute("PRAGMA application_id = 1")
    try raw.close()
    #expect(await failure(foreign) == .corrupt("state.db is no database of sdkd"))
  }

  @Test func seesDamage() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    for index in 0..<40 { _ = try await store.commit(Sample("instance-\(index)").create) }
    await store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    for offset in stride(from: 4096 * 2, to: bytes.count, by: 4096) { bytes[offset] = 0xFF }
    try bytes.write(to: URL(fileURLWithPath: directory.database))
    guard case .corrupt = await failure(directory) else {
      Issue.record("opened a damaged database")
      return
    }
  }

  @Test func saysWhatItCantWrite() async throws {
    let directory = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: directory.state))
    guard case .unwritable(let why) = await failure(directory) else {
      Issue.record("opened a file as a directory")
      return
    }
    #expect(why.contains(directory.state))
  }

  @Test func knowsNetworkFileSystems() {
    #expect(NetworkFileSystem.name(ofType: 0x6969) == "NFS")
    #expect(NetworkFileSystem.name(ofType: 0xFE53_4D42) == "SMB")
    for local: UInt in [0xEF53, 0x0102_1994, 0x5846_5342, 0x9123_683E, 0x794C_7630] {
      #expect(NetworkFileSystem.name(ofType: local) == nil)
    }
  }

  @Test func countsRestartsAndKeepsItsID() async throws {
    let directory = try TemporaryDirectory()
    var ids: Set<String> = []
    var cursors: Set<String> = []
    for count in 0..<3 {
      let store = try await open(directory)
      #expect(store.meta.restartCount == count)
      ids.insert(store.meta.stateID)
      cursors.insert(store.cursors.encode(1))
      await store.close()
    }
    #expect(ids.count == 1 && cursors.count == 1)
    let other = try await open(TemporaryDirectory())
    #expect(!ids.contains(other.meta.stateID))
    #expect(cursors.allSatisfy { other.cursors.decode($0) == nil })
    await other.close()
  }

  @Test func answersWhyThereIsNoState() async throws {
    let store = UnavailableStateStore(StoreOpenError.keyMissing("The key is missing.").sdkError)
    #expect(await reason { _ = try await store.load() } == .keyMissing)
    #expect(await reason { _ = try await store.commit(Sample().create) } == .keyMissing)
    #expect(store.health == .failing(StoreOpenError.keyMissing("The key is missing.").sdkError))
  }
}
