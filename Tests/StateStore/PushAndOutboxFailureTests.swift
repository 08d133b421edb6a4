import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Push registrations and the outbox on a failing disk.
@Suite struct PushAndOutboxFailureTests {
  private func with(
    _ body: (SQLiteStateStore, Faults, TemporaryDirectory) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let faults = Faults()
    let store = try await open(directory, tuning: faults.tuning)
    try await body(store, faults, directory)
    await store.close()
  }

  private static let entry = InstanceChange.Part.putOutbox(
    id: "o", "entry", deadline: Timestamp(secondsSince1970: 5))

  @Test(arguments: [ResultCode.full, .failedSync], [true, false])
  func keepsPushesAndOutboxAsTheyWere(code: ResultCode, atTheBeginning: Bool) async throws {
    try await with { store, faults, directory in
      let sample = try Sample()
      _ = try await store.commit(sample.change(.create(sample.instance), .putPush(id: "p", "push"), Self.entry))
      let before = try await store.loaded(sample)
      let changes = [
        sample.change(.putPush(id: "p", "never"), .putPush(id: "q", "never")), sample.change(.deletePush(id: "p")),
        sample.change(.putOutbox(id: "o", "never", deadline: Timestamp(secondsSince1970: 9))),
        sample.change(.putOutbox(id: "n", "never", deadline: Timestamp(secondsSince1970: 9))),
        sample.change(.deleteOutbox(id: "o")), sample.change(.wipe, .putPush(id: "p", "never"), .deleteOutbox(id: "o")),
      ]
      for change in changes {
        faults.fail(with: code) { atTheBeginning ? $0.isBegun : $0 == .committing }
        #expect(await reason { _ = try await store.commit(change) } == .storeUnavailable)
        faults.stop()
        try await eventually { store.health == .ok }
        #expect(try await store.loaded(sample) == before)
      }
      await store.close()
      let again = try await open(directory)
      #expect(try await again.loaded(sample) == before)
      #expect(before?.pushes.count == 1 && before?.outbox.count == 1)
      await again.close()
    }
  }

  @Test(arguments: [1, 1000]) func acknowledgesNoRemovalWhoseKeyIsInTheLog(failures: Int) async throws {
    try await with { store, faults, directory in
      let sample = try Sample()
      _ = try await store.commit(sample.change(.create(sample.instance), Self.entry))
      let raw = try RawDatabase(directory)
      let old = try raw.data("SELECT wrapped FROM data_key WHERE slot = (SELECT slot FROM outbox)")
      try raw.close()
      let emptied = Seen(0)
      faults.fail(failures) { moment in
        // Skip the first time, which is before the removal.
        moment == .emptyingLog
          && emptied.update { count in
            count += 1
            return count > 1
          }
      }
      let unfinished = try await store.commit(sample.change(.deleteOutbox(id: "o"))).unfinished
      #expect(unfinished?.reason == (failures == 1 ? nil : .storeUnavailable))
      faults.stop()
      try await eventually { store.health == .ok }
      #expect(old.count == 1)
      #expect(try directory.filesContaining(old[0]) == [])
      #expect(try await store.loaded(sample) == sample.instance)
    }
  }
}
