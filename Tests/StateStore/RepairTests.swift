import Foundation
import Linux
import SDKProtocol
import Testing

@testable import StateStore

/// Repair of a damaged database at start, and restores by an operator.
@Suite struct RepairTests {
  /// Makes a state with two backups, of which only the newer has the instance `second`.
  private func prepare(_ directory: TemporaryDirectory, _ first: Sample, _ second: Sample) async throws {
    let clock = TestClock()
    let store = try await open(directory, clock: clock)
    _ = try await store.commit(first.fill)
    _ = try await store.backUp(name: "older", keep: 3)
    _ = try await store.commit(second.fill)
    clock.advance(by: 10)
    _ = try await store.backUp(name: "newer", keep: 3)
    await store.close()
  }

  @Test func putsTheNewestGoodCopyInPlace() async throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (try Sample("first"), try Sample("second"))
    try await prepare(directory, first, second)
    try directory.damage()
    let damaged = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    let clock = TestClock()
    clock.advance(by: 30)
    let store = try await open(directory, clock: clock)
    let repair = try #require(store.meta.repair)
    #expect(repair.backup.name == "newer")
    for sample in [first, second] { try await sample.expectFilled(store) }
    #expect(store.setAside == [repair.setAside])
    await store.close()
    #expect(try directory.files()[repair.setAside] == damaged)

    // The same with a damaged newer backup.
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: directory.state + "/backups/newer.db"))
    try directory.damage()
    clock.advance(by: 30)
    let again = try await open(directory, clock: clock)
    #expect(again.meta.repair?.backup.name == "older")
    #expect(try await again.load().instances.map(\.id.name) == ["first"])
    #expect(again.setAside.count == 2)
    await again.close()
    #expect(try await open(directory, clock: clock).meta.repair == nil)
  }

  @Test func changesNothingWithoutAGoodCopy() async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    try directory.damage()
    let before = try directory.files()
    await #expect(throws: StoreOpenError.self) { _ = try await open(directory) }
    #expect(try directory.files() == before)
    // The same with another root key, which does not open the backups.
    let other = try TemporaryDirectory()
    try await prepare(other, try Sample("first"), try Sample("second"))
    try other.damage()
    let root = try #require(RootKey(bytes: Array(repeating: 9, count: 32)))
    try FileManager.default.removeItem(atPath: other.state + "/root.key")
    let files = try other.files()
    await #expect(throws: StoreOpenError.self) { _ = try await open(other, rootKey: .credential(root)) }
    #expect(try other.files() == files)
  }

  @Test func finishesWhatAKillInterrupted() async throws {
    for step in 0..<3 {
      let directory = try TemporaryDirectory()
      let (first, second) = (try Sample("first"), try Sample("second"))
      try await prepare(directory, first, second)
      let manager = FileManager.default
      let staged = directory.database + ".restoring.before-restore-1"
      try manager.copyItem(atPath: directory.state + "/backups/older.db", toPath: staged)
      try Data("log".utf8).write(to: URL(fileURLWithPath: directory.database + "-wal"))
      if step == 0 { try manager.removeItem(atPath: directory.database + "-wal") }
      if step > 0 { try manager.moveItem(atPath: directory.database, toPath: directory.database + ".before-restore-1") }
      if step > 1 {
        try manager.moveItem(atPath: directory.database + "-wal", toPath: directory.database + ".before-restore-1-wal")
      }
      let store = try await open(directory)
      // A restore that had not moved any file is undone; one that had is completed.
      #expect(try await store.load().instances.count == (step == 0 ? 2 : 1))
      #expect(!manager.fileExists(atPath: staged))
      await store.close()
      let names = try directory.files().keys.filter { $0.contains("before-restore") }.sorted()
      #expect(names == (step == 0 ? [] : ["state.db.before-restore-1", "state.db.before-restore-1-wal"]))
    }
  }

  @Test("Two restores in the same second set two states aside")
  func twoRestoresInOneSecond() async throws {
    let directory = try TemporaryDirectory()
    try await prepare(directory, try Sample("first"), try Sample("second"))
    let time = Timestamp(secondsSince1970: 1_800_000_100)
    let one = try StateRestoration.run(directory: directory.state, from: .named("newer"), at: time)
    let aside = try #require(one.setAside)
    let kept = try Data(contentsOf: URL(fileURLWithPath: aside))
    let two = try StateRestoration.run(directory: directory.state, from: .named("older"), at: time)
    #expect(two.setAside == aside + "-2")
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == kept)
    let store = try await open(directory)
    #expect(store.setAside.count == 2)
    #expect(try await store.load().instances.map(\.id.name) == ["first"])
    await store.close()
    // The log of a state that was set aside also takes the name.
    let log = directory.database + ".before-restore-20270115-080140-3-wal"
    try Data("log".utf8).write(to: URL(fileURLWithPath: log))
    let three = try StateRestoration.run(directory: directory.state, from: .nothing, at: time)
    #expect(three.setAside == aside + "-4")
  }

  @Test func restoresWhatIsAskedFor() async throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (try Sample("first"), try Sample("second"))
    try await prepare(directory, first, second)
    let running = try await open(directory)
    #expect(throws: StoreOpenError.stateInUse(directory: directory.state)) {
      _ = try StateRestoration.run(directory: directory.state, from: .newest)
    }
    await running.close()
    let newest = try StateRestoration.run(
      directory: directory.state, from: .newest, at: Timestamp(secondsSince1970: 1_800_000_100))
    #expect(newest.restored == "newer" && newest.setAside == directory.database + ".before-restore-20270115-080140")
    let older = try StateRestoration.run(
      directory: directory.state, from: .named("older"), at: Timestamp(secondsSince1970: 1_800_000_200))
    #expect(older.restored == "older")
    let store = try await open(directory)
    #expect(try await store.load().instances.map(\.id.name) == ["first"])
    #expect(store.meta.copiedAt != nil && store.setAside.count == 2)
    await store.close()

    let before = try directory.files()
    let junk = directory.path + "/junk"
    try Data("junk".utf8).write(to: URL(fileURLWithPath: junk))
    let file = try DatabaseSource.opened(at: junk)
    for source: StateRestoration.Source in [.named("none"), .file(file)] {
      #expect(throws: StoreOpenError.self) { _ = try StateRestoration.run(directory: directory.state, from: source) }
    }
    #expect(try directory.files() == before)
    let nothing = try StateRestoration.run(directory: directory.state, from: .nothing)
    #expect(nothing.restored == nil && nothing.setAside != nil)
    let empty = try await open(directory)
    #expect(try await empty.load().instances.isEmpty && empty.meta.copiedAt == nil)
    await empty.close()
  }
}
