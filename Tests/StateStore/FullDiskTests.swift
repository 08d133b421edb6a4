import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// Stores on a full disk, for which a small tmpfs is filled.
@Suite struct FullDiskTests {
  @Test(.enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func refusesWhenFullAndHealsWhenFreed() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 4096))
    let store = try await open(disk.directory)
    let sample = try Sample()
    _ = try await store.commit(sample.create)
    try disk.fill()

    let value = JSON.string(String(repeating: "x", count: 20_000))
    var acknowledged: [String] = []
    var refusal: SDKError?
    for index in 0..<400 where refusal == nil {
      do throws(SDKError) {
        _ = try await store.commit(sample.put("key-\(index)", value, limit: .max))
        acknowledged.append("key-\(index)")
      } catch {
        refusal = error
      }
    }
    #expect(refusal?.reason == .storeUnavailable)
    disk.free()
    try await eventually { store.health == .ok }
    _ = try await store.commit(sample.put("after", value))
    acknowledged.append("after")
    #expect(try await store.storageKeys(of: sample.uuid).map(\.key) == acknowledged.sorted())
    await store.close()
    let again = try await open(disk.directory)
    #expect(try await again.storageKeys(of: sample.uuid).map(\.key) == acknowledged.sorted())
    #expect(try await again.storageValue(of: sample.uuid, key: "after")?.value == value)
    await again.close()
  }

  @Test(.enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func healsByItselfAfterWorkThatIsNoChange() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 4096))
    let store = try await open(disk.directory)
    for number in 0..<64 { _ = try await store.commit(try Sample("desk-\(number)").create) }
    try disk.fill()
    // The log file still has allocated space, so rotate keys until that is used up.
    for _ in 0..<64 where store.health == .ok { _ = try? await store.rotateKey() }
    #expect(store.health != .ok)
    disk.free()
    try await eventually { store.health == .ok }
    await store.close()
  }

  @Test(
    "The check of a full disk fails until space is free",
    .enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func isNotWritableWhenFull() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 4096))
    let state = disk.directory.state
    await (try open(disk.directory)).close()
    #expect(StateAccess.isWritable(state))
    try disk.fill()
    #expect(!StateAccess.isWritable(state))
    disk.free()
    #expect(StateAccess.isWritable(state))
    #expect(try FileManager.default.contentsOfDirectory(atPath: state).contains(".probe") == false)
    await (try open(disk.directory)).close()
  }

  /// A disk on which nothing can be written at the start.
  enum Shortage: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case space, spaceAfterCrash, files, readOnly

    var testDescription: String { rawValue }
    var words: String {
      switch self {
      case .space, .spaceAfterCrash: "the disk is full"
      case .files: "no free inodes"
      case .readOnly: "mounted read-only"
      }
    }

    func begin(on disk: SmallDisk) throws {
      switch self {
      case .space, .spaceAfterCrash: try disk.fill()
      case .files: disk.fillWithFiles()
      case .readOnly: try disk.setReadOnly(true)
      }
    }

    func end(on disk: SmallDisk) throws {
      switch self {
      case .space, .spaceAfterCrash: disk.free()
      case .files: disk.removeFiles()
      case .readOnly: try disk.setReadOnly(false)
      }
    }
  }

  @Test(
    "A state on a disk that can't be written is read, and written once that is possible",
    .enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"), arguments: Shortage.allCases)
  func isReadUntilItCanBeWritten(shortage: Shortage) async throws {
    let original = try TemporaryDirectory()
    let sample = try Sample()
    let first = try await open(original)
    _ = try await first.commit(sample.fill)
    if shortage != .spaceAfterCrash { await first.close() }
    let disk = try #require(try SmallDisk(kilobytes: 2048, files: shortage == .files ? 64 : nil))
    for name in try FileManager.default.contentsOfDirectory(atPath: original.state) {
      try FileManager.default.copyItem(atPath: original.state + "/" + name, toPath: disk.directory.state + "/" + name)
    }
    if shortage == .spaceAfterCrash { await first.close() }
    try shortage.begin(on: disk)
    let store = try await open(disk.directory)
    #expect(store.meta.restartCount == 1)
    // A process that has the directory as its root directory gives paths with two slashes.
    for path in [disk.directory.state, "/" + disk.directory.state] {
      let keys = try StateKeyCheck(directory: path, key: nil)
      #expect(keys.isSealed && keys.fileOpens)
    }
    try await sample.expectFilled(store)
    for _ in 0..<3 {
      do throws(SDKError) {
        _ = try await store.commit(sample.put("key", 1))
        Issue.record("stored on a disk that can't be written")
      } catch {
        #expect(error.reason == .storeUnavailable && error.reason.isRetryable)
        #expect(error.message.contains(shortage.words), "\(error.message)")
      }
      try await sample.expectFilled(store)
    }
    guard case .degraded(let why) = store.health else {
      Issue.record("\(store.health)")
      return
    }
    #expect(why.contains(shortage.words))
    if shortage != .readOnly { try await store.note(failedWipes: ["": 0], of: sample.uuid) }
    try shortage.end(on: disk)
    try await eventually { store.health == .ok }
    _ = try await store.commit(sample.put("key", 1))
    #expect(try await store.storageValue(of: sample.uuid, key: "key")?.value == 1)
    await store.close()
    let again = try await open(disk.directory)
    #expect(again.meta.restartCount == 2 && again.meta.stateID == store.meta.stateID)
    #expect(try await again.storageValue(of: sample.uuid, key: "key")?.value == 1)
    try await sample.expectFilled(again)
    await again.close()
  }

  @Test(
    "After a start on a full disk, destroyed keys are removed from the backups as soon as there is room",
    .enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func removesKeysFromBackupsOnceThereIsRoom() async throws {
    let original = try TemporaryDirectory()
    let sample = try Sample()
    let first = try await open(original)
    _ = try await first.commit(sample.fill)
    let keys = try original.wrappedKeys()
    _ = try await first.backUp(name: "one", keep: 3)
    let end = try BackupRemovalTests.Obstacle.reader.begin(on: original.state + "/backups/one.db", nil)
    _ = try await first.commit(sample.change(.wipe))
    let present = try original.wrappedKeys()
    let destroyed = try #require(keys.first { !present.contains($0) })
    await first.close()
    try end()
    let disk = try #require(try SmallDisk(kilobytes: 2048))
    for name in try FileManager.default.contentsOfDirectory(atPath: original.state) {
      try FileManager.default.copyItem(atPath: original.state + "/" + name, toPath: disk.directory.state + "/" + name)
    }
    try disk.fill()
    let store = try await open(disk.directory)
    #expect(store.health != .ok)
    #expect(try disk.directory.filesContaining(destroyed) == ["backups/one.db"])
    disk.free()
    try await eventually { store.health == .ok }
    // The journal of the removal is there for a moment.
    try await eventually { (try? disk.directory.filesContaining(destroyed)) == [] }
    await store.close()
  }

  @Test(
    "A full disk is not taken for damage of a backup",
    .enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func aFullDiskIsNotDamage() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 4096))
    let database = disk.directory.database
    await (try open(disk.directory)).close()
    try disk.fill()
    do {
      _ = try CopyCheck.check(database, roots: nil, at: TestClock().now)
      Issue.record("marked a database on a full disk")
    } catch {
      guard case .unwritable = error else { throw error }
    }
    disk.free()
    #expect(try CopyCheck.check(database, roots: nil, at: TestClock().now).copiedAt == TestClock().now)
  }

  @Test(.enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func wipesOrRefusesOnAFullDisk() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 4096))
    let store = try await open(disk.directory)
    let sample = try Sample()
    _ = try await store.commit(sample.change(.create(sample.instance), .identify(Sample.identity)))
    let raw = try RawDatabase(disk.directory)
    let old = try #require(try raw.data("SELECT wrapped FROM data_key WHERE slot = (SELECT slot FROM instance)").first)
    try raw.close()
    try disk.fill()
    if (try? await store.commit(sample.change(.wipe))) == nil {
      disk.free()
      try await eventually { (try? await store.commit(sample.change(.wipe))) != nil }
    }
    #expect(try disk.directory.filesContaining(old) == [])
    #expect(try await store.loaded(sample)?.identity == nil)
    await store.close()
  }
}
