import Foundation
import Glibc
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// Stores on a full disk, for which a small tmpfs is filled.
@Suite struct FullDiskTests {
  /// A mounted tmpfs, which is unmounted in `deinit`.
  private final class SmallDisk: Sendable {
    let directory: TemporaryDirectory

    init?(kilobytes: Int) throws {
      directory = try TemporaryDirectory()
      let options = "size=\(kilobytes)k,mode=0700"
      try FileManager.default.createDirectory(atPath: directory.state, withIntermediateDirectories: true)
      guard mount("tmpfs", directory.state, "tmpfs", 0, options) == 0 else { return nil }
    }

    deinit { umount2(directory.state, 2) }

    var ballast: String { directory.state + "/ballast" }

    func fill() throws {
      let descriptor = creat(ballast, 0o600)
      try #require(descriptor >= 0)
      let block = [UInt8](repeating: 1, count: 4096)
      while write(descriptor, block, block.count) > 0 {}
      close(descriptor)
    }

    func free() { unlink(ballast) }

    static let canMount: Bool = { (try? SmallDisk(kilobytes: 64)) != nil }()
  }

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
    "A state on a full disk is not writable until space is free",
    .enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func isNotWritableWhenFull() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 4096))
    let state = disk.directory.state
    await (try open(disk.directory)).close()
    #expect(StateAccess.isWritable(state))
    try disk.fill()
    await #expect(throws: StoreOpenError.self) { await (try open(disk.directory)).close() }
    #expect(!StateAccess.isWritable(state))
    disk.free()
    #expect(StateAccess.isWritable(state))
    #expect(try FileManager.default.contentsOfDirectory(atPath: state).contains(".probe") == false)
    await (try open(disk.directory)).close()
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
    #expect(try CopyCheck.check(database, roots: nil, at: TestClock().now) == TestClock().now)
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
