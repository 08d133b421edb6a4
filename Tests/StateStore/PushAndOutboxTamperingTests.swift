import Foundation
import JSONRPC
import Logging
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Detection of rows of push registrations and outbox entries that were moved, changed or put back.
@Suite struct PushAndOutboxTamperingTests {
  private static func entry(_ id: String, _ value: JSON) -> InstanceChange.Part {
    .putOutbox(id: id, value, deadline: Timestamp(secondsSince1970: 1_800_000_100.5))
  }

  /// Makes two instances with two push registrations and two outbox entries each. Changes the database while it is
  /// closed, then opens it again.
  private func tampered(
    _ change: (RawDatabase, [Sample]) throws -> Void, then body: (SQLiteStateStore, [Sample]) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let samples = try ["one", "two"].map { try Sample($0) }
    let store = try await open(directory)
    for sample in samples {
      _ = try await store.commit(sample.create)
      _ = try await store.commit(
        sample.change(.putPush(id: "a", "push a"), Self.entry("a", "entry a"), Self.entry("b", "entry b")))
      _ = try await store.commit(sample.change(.putPush(id: "b", "push b")))
    }
    await store.close()
    let raw = try RawDatabase(directory)
    try change(raw, samples)
    try raw.close()
    let again = try await open(directory)
    try await body(again, samples)
    await again.close()
  }

  @Test func changesNothingByItself() async throws {
    try await tampered { _, _ in
    } then: { store, _ in
      let state = try await store.load()
      #expect(state.quarantined.isEmpty)
      for instance in state.instances {
        #expect(instance.pushes == ["a", "b"].map { StoredPush(id: $0, value: .string("push \($0)")) })
        #expect(instance.outbox.map(\.value) == ["entry a", "entry b"])
      }
    }
  }

  /// `?1` is the UUID of the first instance, `?2` that of the second.
  @Test(arguments: [
    "DELETE FROM push WHERE instance = ?1 AND ?2 <> ''",
    "DELETE FROM push WHERE instance = ?1 AND ?2 <> '' AND tag = (SELECT MIN(tag) FROM push WHERE instance = ?1)",
    "UPDATE push SET revision = revision + 1 WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE push SET value = name WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE push SET name = value WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE push SET value = zeroblob(40) WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE push SET tag = zeroblob(16) WHERE instance = ?1 AND revision = 2 AND ?2 <> ''",
    """
    UPDATE push SET value = (SELECT value FROM push p WHERE p.instance = push.instance AND p.tag <> push.tag)
    WHERE instance = ?1 AND ?2 <> ''
    """,
    """
    UPDATE push SET (name, value) = (SELECT name, value FROM push p WHERE p.instance = ?2 AND p.revision = push.revision)
    WHERE instance = ?1
    """,
    "INSERT INTO push SELECT ?1, tag, revision, name, value FROM push WHERE instance = ?2",
  ]) func quarantinesWithChangedPushes(sql: String) async throws {
    try await tampered { raw, samples in
      try raw.execute(sql, [samples[0].uuid.description, samples[1].uuid.description])
    } then: { store, samples in
      let state = try await store.load()
      #expect(state.quarantined.map(\.uuid) == [samples[0].uuid])
      #expect(state.instances.map(\.uuid) == [samples[1].uuid])
      #expect(state.instances.first?.pushes.count == 2)
      _ = try await store.commit(samples[0].change(.delete))
      #expect(try await store.load().quarantined.isEmpty)
    }
  }

  @Test func detectsAnOlderPush() async throws {
    let later: [InstanceChange.Part] = [.putPush(id: "a", "new"), .deletePush(id: "a"), .wipe]
    for change in later {
      let directory = try TemporaryDirectory()
      let sample = try Sample()
      let store = try await open(directory)
      _ = try await store.commit(sample.change(.create(sample.instance), .putPush(id: "a", "old")))
      let raw = try RawDatabase(directory)
      let old = try #require(try raw.rows("SELECT * FROM push").first)
      try raw.close()
      _ = try await store.commit(sample.change(change))
      await store.close()
      let again = try RawDatabase(directory)
      try again.execute("DELETE FROM push")
      try again.execute("INSERT INTO push VALUES (?, ?, ?, ?, ?)", old.values)
      try again.close()
      let reopened = try await open(directory)
      #expect(try await reopened.load().quarantined.map(\.uuid) == [sample.uuid])
      await reopened.close()
    }
  }

  /// `?1` is the UUID of the first instance, `?2` that of the second. Their keys are in slots 4 and 7; slots 5 and 6
  /// have the keys of the first instance's entries.
  @Test(arguments: [
    "UPDATE outbox SET deadline = deadline + 1 WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE outbox SET value = name WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE outbox SET value = zeroblob(40) WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE outbox SET tag = randomblob(16) WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE outbox SET slot = slot + 70 WHERE instance = ?1 AND ?2 <> ''",
    "UPDATE outbox SET slot = slot - 2 WHERE instance = ?1 AND ?2 <> ''",
    """
    UPDATE outbox SET name = o.name, value = o.value FROM (SELECT * FROM outbox) AS o
    WHERE o.slot = 11 - outbox.slot AND outbox.instance = ?1 AND ?2 <> ''
    """,
    """
    UPDATE outbox SET (name, value) = (SELECT name, value FROM outbox o WHERE o.slot = 3 + outbox.slot)
    WHERE instance = ?1 AND ?2 <> ''
    """,
    """
    UPDATE data_key SET wrapped = k.wrapped, anchor = k.anchor FROM (SELECT * FROM data_key) AS k
    WHERE k.slot = 11 - data_key.slot AND data_key.slot IN (5, 6) AND ?1 <> ?2
    """,
    """
    UPDATE data_key SET (wrapped, anchor) = (SELECT wrapped, anchor FROM data_key k WHERE k.slot = 4)
    WHERE slot IN (5, 6) AND ?1 <> ?2
    """,
    "UPDATE data_key SET anchor = zeroblob(68) WHERE slot IN (5, 6) AND ?1 <> ?2",
    "DELETE FROM data_key WHERE slot IN (5, 6) AND ?1 <> ?2",
  ]) func dropsChangedEntries(sql: String) async throws {
    try await tampered { raw, samples in
      try raw.execute(sql, [samples[0].uuid.description, samples[1].uuid.description])
    } then: { store, samples in
      let state = try await store.load()
      #expect(state.quarantined.isEmpty && state.instances.count == 2)
      #expect(try await store.loaded(samples[0])?.outbox == [])
      #expect(try await store.loaded(samples[0])?.pushes.count == 2)
      #expect(try await store.loaded(samples[1])?.outbox.count == 2)
      // Dropped entries do not block new ones, and their removal destroys no key of another entry.
      let again = samples[0].change(Self.entry("a", "again"), .deleteOutbox(id: "b"))
      _ = try await store.commit(again)
      #expect(try await store.loaded(samples[0])?.outbox.map(\.value) == ["again"])
      #expect(try await store.loaded(samples[1])?.outbox.count == 2)
      _ = try await store.commit(samples[0].change(.delete))
      #expect(try await store.load().quarantined.isEmpty)
      #expect(try await store.loaded(samples[1])?.outbox.count == 2)
    }
  }

  @Test(arguments: ["outbox", "data_key"]) func dropsAnOlderEntry(table: String) async throws {
    for change in [Self.entry("a", "new"), .deleteOutbox(id: "a")] {
      let directory = try TemporaryDirectory()
      let sample = try Sample()
      let store = try await open(directory)
      _ = try await store.commit(sample.change(.create(sample.instance), Self.entry("a", "old")))
      let raw = try RawDatabase(directory)
      let old = try #require(try raw.rows("SELECT * FROM \(table) WHERE slot = 5").first)
      try raw.close()
      _ = try await store.commit(sample.change(change))
      await store.close()
      let again = try RawDatabase(directory)
      try again.execute("DELETE FROM \(table) WHERE slot = 5")
      let places = Array(repeating: "?", count: old.values.count).joined(separator: ", ")
      try again.execute("INSERT INTO \(table) VALUES (\(places))", old.values)
      try again.close()
      let reopened = try await open(directory)
      #expect(try await reopened.loaded(sample) == sample.instance)
      await reopened.close()
    }
  }

  @Test func takesNoSlotThatAnEntryStillHas() async throws {
    try await tampered { raw, _ in
      try raw.execute("UPDATE data_key SET wrapped = zeroblob(60), anchor = zeroblob(68) WHERE slot IN (5, 6)")
    } then: { store, samples in
      let other = try Sample("three")
      _ = try await store.commit(other.change(.create(other.instance), Self.entry("a", "new")))
      #expect(try await store.loaded(other)?.outbox.map(\.value) == ["new"])
      // A deletion of the instance with the damaged entries removes nothing of another instance.
      _ = try await store.commit(samples[0].change(.delete))
      #expect(try await store.loaded(other)?.outbox.map(\.value) == ["new"])
      #expect(try await store.load().quarantined.isEmpty)
    }
  }

  @Test func makesRoomOfWhatDoesNotOpen() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.create)
    for id in 0..<StoredOutboxEntry.maximumCount { _ = try await store.commit(sample.change(Self.entry("\(id)", 1))) }
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute("UPDATE outbox SET value = zeroblob(40) WHERE slot <= 14")
    try raw.close()
    let again = try await open(directory)
    #expect(try await again.loaded(sample)?.outbox.count == 246)
    _ = try await again.commit(sample.change(Self.entry("more", 1)))
    #expect(try await again.loaded(sample)?.outbox.count == 247)
    await again.close()
    let after = try RawDatabase(directory)
    #expect(try after.rows("SELECT slot FROM outbox").count == 247)
    #expect(try after.data("SELECT wrapped FROM data_key").count { $0 == Data(count: DataKey.wrappedBytes) } == 9)
    try after.close()
  }

  @Test func saysWhatItDrops() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample("front-desk")
    let store = try await open(directory)
    _ = try await store.commit(sample.change(.create(sample.instance), Self.entry("secret", "secret")))
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute("UPDATE outbox SET deadline = 0")
    try raw.close()
    let lines = Seen<[String]>([])
    let again = try await SQLiteStateStore.open(
      directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
    #expect(try await again.loaded(sample) == sample.instance)
    let line = try #require(lines.value.first { $0.contains("outbox") })
    #expect(line.contains("front-desk") && line.hasPrefix("1 ") && !line.contains("secret"))
    await again.close()
  }
}
