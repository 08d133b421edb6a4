import Foundation
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// The root key in a file or a credential, and moves from one to the next.
@Suite struct RootKeyTests {
  private func key(_ byte: UInt8) throws -> RootKey { try #require(RootKey(bytes: Array(repeating: byte, count: 32))) }

  private func opens(_ directory: TemporaryDirectory, _ source: RootKeySource, _ sample: Sample) async throws -> Bool {
    do {
      let store = try await open(directory, rootKey: source)
      try await sample.expectFilled(store)
      await store.close()
      return true
    } catch StoreOpenError.keyMissing {
      return false
    }
  }

  @Test func movesFromTheFileToTheCredentialAndOn() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    #expect(store.meta.rootKey == .file)
    await store.close()
    let file = directory.state + "/root.key"
    let first = try Data(contentsOf: URL(fileURLWithPath: file))
    let wrapped = try directory.wrappedMaster()

    let moved = try await open(directory, rootKey: .credential(key(1)))
    #expect(moved.meta.rootKey == .credential)
    try await sample.expectFilled(moved)
    await moved.close()
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(try directory.filesContaining(wrapped) == [] && directory.filesContaining(first) == [])
    // Without the credential, no new key is created for an existing state.
    #expect(try await !opens(directory, .file, sample))
    #expect(!FileManager.default.fileExists(atPath: file))

    let under1 = try directory.wrappedMaster()
    let next = try await open(directory, rootKey: .credential(key(1), next: key(2)))
    #expect(next.meta.rootKey == .nextCredential)
    await next.close()
    #expect(try directory.filesContaining(under1) == [])
    // The next key opens the state beside the current one, without it, and then as the current one.
    #expect(try await opens(directory, .credential(key(1), next: key(2)), sample))
    #expect(try await opens(directory, .credential(nil, next: key(2)), sample))
    #expect(try await opens(directory, .credential(key(2)), sample))
    #expect(try await !opens(directory, .credential(key(1)), sample))
    // The backup was wrapped under the next key too.
    try directory.restore("copy")
    #expect(try await opens(directory, .credential(key(2)), sample))
  }

  @Test("With a credential, the record of the generation shows that there was a state", arguments: [true, false])
  func theGenerationShowsThatThereWasAState(isEmptied: Bool) async throws {
    let directory = try TemporaryDirectory()
    let root = RootKeySource.credential(try key(1))
    let store = try await open(directory, rootKey: root)
    _ = try await store.commit(try Sample().fill)
    await store.close()
    try FileManager.default.removeItem(atPath: directory.database)
    if isEmptied { try Data().write(to: URL(fileURLWithPath: directory.database)) }
    let before = try directory.files()
    await #expect(throws: StoreOpenError.corrupt(StateUnlocking.lost)) { _ = try await open(directory, rootKey: root) }
    #expect(try directory.files() == before)
    _ = try StateRestoration.run(directory: directory.state, from: .nothing)
    for _ in 0..<2 { await (try open(directory, rootKey: root)).close() }

    // A first start that was interrupted before its commit has recorded the generation 0.
    let first = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: first.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let line = "id \(String(repeating: "0", count: 20))\n"
    try Data(line.utf8).write(to: URL(fileURLWithPath: first.state + "/generation"))
    if isEmptied { try Data().write(to: URL(fileURLWithPath: first.database)) }
    await (try open(first, rootKey: root)).close()
  }

  @Test("Without database, backups and root.key, the error names the way to an empty state")
  func aLostStateWithoutItsKeyBeginsAnew() async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    for name in ["state.db", "state.db-wal", "state.db-shm", "root.key"] {
      try? FileManager.default.removeItem(atPath: directory.state + "/" + name)
    }
    let before = try directory.files()
    #expect(before.keys.sorted() == ["failed-wipes", "generation"])
    do {
      await (try open(directory)).close()
      Issue.record("opened a lost state")
    } catch {
      #expect(error.sdkError.message.contains("sdkctl restore --empty"), "\(error)")
    }
    #expect(try directory.files() == before)
    _ = try StateRestoration.run(directory: directory.state, from: .nothing)
    for _ in 0..<2 { await (try open(directory)).close() }
  }

  @Test func takesNothingForAKeyThatDoesNotOpenTheState() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory, rootKey: .credential(key(1)))
    _ = try await store.commit(sample.fill)
    await store.close()
    let before = try directory.files()
    #expect(try await !opens(directory, .credential(key(3), next: key(4)), sample))
    #expect(try await !opens(directory, .file, sample))
    #expect(try directory.files().filter { !$0.key.hasSuffix("-shm") } == before.filter { !$0.key.hasSuffix("-shm") })
    #expect(try await opens(directory, .credential(key(1)), sample))
  }

  @Test func keepsTheFileForACopyThatNeedsIt() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    let copy = directory.state + "/backups/copy.db"
    let whole = try Data(contentsOf: URL(fileURLWithPath: copy))
    try Data(repeating: 7, count: 4096).write(to: URL(fileURLWithPath: copy))
    #expect(try await opens(directory, .credential(key(1)), sample))
    #expect(FileManager.default.fileExists(atPath: directory.state + "/root.key"))
    try whole.write(to: URL(fileURLWithPath: copy))
    #expect(try await opens(directory, .credential(key(1)), sample))
    #expect(!FileManager.default.fileExists(atPath: directory.state + "/root.key"))
    try directory.restore("copy")
    #expect(try await opens(directory, .credential(key(1)), sample))
  }

  @Test("Keys that are not locked in memory are worth a warning only where swap space is, and it says the cause")
  func swapWarning() throws {
    for error in [0, ENOMEM, EPERM] { #expect(SwapWarning.text(lockError: error, hasSwap: false) == nil) }
    #expect(SwapWarning.text(lockError: 0, hasSwap: true) == nil)
    let limit = try #require(SwapWarning.text(lockError: ENOMEM, hasSwap: true))
    #expect(limit.contains("RLIMIT_MEMLOCK is too low") && limit.contains("LimitMEMLOCK="))
    let refusal = try #require(SwapWarning.text(lockError: EPERM, hasSwap: true))
    #expect(refusal.contains("does not permit") && refusal.contains("mlock: Operation not permitted"))
    #expect(!refusal.contains("RLIMIT_MEMLOCK"))
  }
}
