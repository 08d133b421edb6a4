import Foundation
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

@Suite struct DiskFailureTests {
  private func with(
    _ body: (SQLiteStateStore, Faults, TemporaryDirectory) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let faults = Faults()
    let store = try await open(directory, tuning: faults.tuning)
    try await body(store, faults, directory)
    await store.close()
  }

  @Test(arguments: [ResultCode.full, .failedSync, .failedWrite], [true, false])
  func failsTheWholeBatchAndHeals(code: ResultCode, atTheBeginning: Bool) async throws {
    try await with { store, faults, directory in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      faults.fail(with: code) { atTheBeginning ? $0.isBegun : $0 == .committing }
      do throws(SDKError) {
        _ = try await store.commit(sample.change(.identify("never"), events: [.init(.userLoggedIn)]))
        Issue.record("acknowledged what is not on disk")
      } catch {
        #expect(error.reason == .storeUnavailable && error.reason.isRetryable)
        #expect(error.message.contains("nothing was changed"))
      }
      guard case .degraded = store.health else {
        Issue.record("\(store.health)")
        return
      }
      #expect(try await store.loaded(sample) == sample.instance)
      #expect(try await store.events(after: 0, limit: 10).isEmpty)

      faults.stop()
      // The store recovers by itself, without a change from a caller.
      try await eventually { store.health == .ok }
      _ = try await store.commit(sample.change(.identify("now")))
      await store.close()
      let again = try await open(directory)
      #expect(try await again.loaded(sample)?.identity == "now")
      await again.close()
    }
  }

  @Test func readsFailAndComeBackWithTheDatabase() async throws {
    try await with { store, faults, _ in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      faults.fail { $0 == .committing || $0 == .reopening }
      #expect(await reason { _ = try await store.commit(sample.put("key", 1)) } == .storeUnavailable)
      #expect(await reason { _ = try await store.load() } == .storeUnavailable)
      #expect(await reason { _ = try await store.commit(sample.put("key", 1)) } == .storeUnavailable)
      faults.stop()
      try await eventually { (try? await store.commit(sample.put("key", 1))) != nil }
      #expect(try await store.storageValue(of: sample.uuid, key: "key")?.value == 1)
      #expect(store.health == .ok)
    }
  }

  @Test func leavesAFailingDiskAloneForAWhile() {
    var pause = RecoveryPause(first: .seconds(1), longest: .seconds(3))
    #expect(pause.current == nil && pause.refusal == nil)
    let error = SDKError.storeUnavailable("full")
    let pauses = (0..<4).map { _ -> Duration? in
      pause.begin(with: error)
      return pause.current
    }
    #expect(pauses == [.seconds(1), .seconds(2), .seconds(3), .seconds(3)])
    #expect(pause.refusal == error)
    pause.reset()
    #expect(pause.current == nil && pause.refusal == nil)
  }

  @Test func givesADamagedDatabaseItsName() async throws {
    try await with { store, faults, _ in
      faults.fail(with: .corrupt) { $0.isBegun }
      #expect(await reason { _ = try await store.commit(Sample().create) } == .storeUnavailable)
      guard case .failing = store.health else {
        Issue.record("\(store.health)")
        return
      }
      faults.stop()
    }
  }

  @Test func givesUpNothingWhenTheLogCantBeEmptied() async throws {
    try await with { store, faults, directory in
      let sample = try Sample()
      _ = try await store.commit(sample.change(.create(sample.instance), .identify(Sample.identity)))
      faults.fail { $0 == .emptyingLog }
      #expect(await reason { _ = try await store.commit(sample.change(.wipe)) } == .storeUnavailable)
      // The failure occurred before the wipe began, so nothing was changed.
      #expect(try await store.loaded(sample)?.identity == Sample.identity)
      faults.stop()
      try await eventually { (try? await store.commit(sample.change(.wipe))) != nil }
      #expect(try await store.loaded(sample)?.storageEpoch == 1)
    }
  }

  @Test(arguments: [1, 1000]) func acknowledgesNoWipeWhoseKeyIsInTheLog(failures: Int) async throws {
    try await with { store, faults, directory in
      let (sample, other) = (try Sample("one"), try Sample("two"))
      _ = try await store.commit(sample.create)
      _ = try await store.commit(other.create)
      let raw = try RawDatabase(directory)
      let old = try raw.data("SELECT wrapped FROM data_key WHERE slot = (SELECT slot FROM instance WHERE id = 'one')")
      try raw.close()
      let emptied = Seen(0)
      faults.fail(failures) { moment in
        // Skip the first time, which is before the wipe.
        moment == .emptyingLog
          && emptied.update { count in
            count += 1
            return count > 1
          }
      }
      let unfinished = try await store.commit(sample.change(.wipe)).unfinished
      #expect(unfinished?.reason == (failures == 1 ? nil : .storeUnavailable))
      faults.stop()
      try await eventually { store.health == .ok }
      #expect(old.count == 1)
      #expect(try directory.filesContaining(old[0]) == [])
      #expect(try await store.loaded(sample)?.storageEpoch == 1)
      _ = try await store.commit(other.put("key", 1))
    }
  }

  @Test func survivesSQLiteRunningOutOfPages() async throws {
    let directory = try TemporaryDirectory()
    let isFull = Seen(false)
    var tuning = StoreTuning()
    tuning.at = { moment, db in
      guard moment.isBegun, let db, isFull.value else { return }
      _ = try Row.fetchOne(db, sql: "PRAGMA max_page_count = 1")
    }
    let store = try await open(directory, tuning: tuning)
    let (sample, big) = (try Sample(), JSON.string(String(repeating: "x", count: 100_000)))
    _ = try await store.commit(sample.create)
    isFull.set(true)
    do throws(SDKError) {
      _ = try await store.commit(sample.put("key", big))
      Issue.record("stored what does not fit")
    } catch {
      #expect(error.message.contains("disk is full"))
    }
    isFull.set(false)
    try await eventually { (try? await store.commit(sample.put("key", big))) != nil }
    #expect(try await store.storageValue(of: sample.uuid, key: "key")?.value == big)
    await store.close()
  }

  /// A COMMIT whose fsync failed leaves frames in the log beyond the length that the index calls committed. The cut
  /// removes them.
  @Test func cutsOffWhatWasNotCommitted() async throws {
    let directory = try TemporaryDirectory()
    let (one, two) = (try Sample("one"), try Sample("two"))
    let store = try await open(directory)
    _ = try await store.commit(one.create)
    let copy = try TemporaryDirectory()
    let length = try await {
      let length = WriteAheadLog(directory: store.directory).committedLength()
      _ = try await store.commit(two.create)
      try FileManager.default.copyItem(atPath: directory.state, toPath: copy.state)
      await store.close()
      return try #require(length)
    }()
    #expect(length > 32)
    let whole = try StateDirectory(copy.state)
    #expect((try copy.files()["state.db-wal"]?.count ?? 0) > length)
    try WriteAheadLog(directory: whole).cut(to: length)
    whole.unlock()
    let again = try await open(copy)
    #expect(try await again.load().instances.map(\.uuid) == [one.uuid])
    await again.close()
  }
}
