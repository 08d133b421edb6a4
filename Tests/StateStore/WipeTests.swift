import Foundation
import JSONRPC
import Randomness
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// The contents of the state's files: no plaintext, and no key after its destruction.
@Suite struct WipeTests {
  private static let secrets = [
    "plaintext", "Plaintext", "Plaintext Name", "plaintext@example.com", "plaintext-token-value", "plaintext-settings",
    "secret-storage-key", "secret-storage-value", "secret-event-data", "secret-push-id", "secret-push-value",
    "secret-outbox-id", "secret-outbox-value",
  ]

  private func wrappedKeys(_ directory: TemporaryDirectory) throws -> [Data] {
    let raw = try RawDatabase(directory)
    defer { try? raw.close() }
    return try raw.data("SELECT wrapped FROM data_key WHERE slot NOT IN (SELECT slot FROM state_key)").filter {
      $0 != Data(count: DataKey.wrappedBytes)
    }
  }

  private func expectNoPlaintext(_ directory: TemporaryDirectory) throws {
    for secret in Self.secrets { #expect(try directory.filesContaining(Data(secret.utf8)) == [], "\(secret)") }
  }

  private func fill(_ sample: Sample, _ store: SQLiteStateStore) async throws {
    _ = try await store.commit(
      sample.change(
        .create(sample.instance), .identify(Sample.identity),
        .putValue(key: "secret-storage-key", value: "secret-storage-value", limit: 1000),
        .putPush(id: "secret-push-id", "secret-push-value"),
        .putOutbox(id: "secret-outbox-id", "secret-outbox-value", deadline: Timestamp(secondsSince1970: 5)),
        events: [.init(.userLoggedIn, data: ["user": "secret-event-data"])]))
  }

  @Test func writesNothingInClear() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    try await fill(Sample(), store)
    try expectNoPlaintext(directory)
    await store.close()
    try expectNoPlaintext(directory)
    let root = try Data(contentsOf: URL(fileURLWithPath: directory.state + "/root.key"))
    #expect(try directory.filesContaining(root) == ["root.key"])
  }

  /// The parts of a change, and whether each destroys the key of the instance and the key of its outbox entry.
  private static let destructions: [(part: InstanceChange.Part, instance: Bool, entry: Bool)] = [
    (.wipe, true, false), (.deleteOutbox(id: "secret-outbox-id"), false, true), (.delete, true, true),
    (.putOutbox(id: "secret-outbox-id", "x", deadline: Timestamp(secondsSince1970: 6)), false, false),
  ]

  @Test(arguments: 0..<4) func leavesTheOldKeyInNoFile(index: Int) async throws {
    let (part, destroysInstance, destroysEntry) = Self.destructions[index]
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sample = try Sample()
    try await fill(sample, store)
    let old = try wrappedKeys(directory)
    #expect(old.count == 2)
    for key in old { #expect(try !directory.filesContaining(key).isEmpty) }

    _ = try await store.commit(sample.change(part))
    for (key, isDestroyed) in zip(old, [destroysInstance, destroysEntry]) {
      #expect(try directory.filesContaining(key).isEmpty == isDestroyed)
      #expect(try wrappedKeys(directory).contains(key) != isDestroyed)
    }
    try expectNoPlaintext(directory)
    await store.close()
    for (key, isDestroyed) in zip(old, [destroysInstance, destroysEntry]) {
      #expect(try directory.filesContaining(key).isEmpty == isDestroyed)
    }
  }

  @Test func usesSlotsAgain() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sample = try Sample()
    try await fill(sample, store)
    for round in 0..<5 {
      let entry = InstanceChange.Part.putOutbox(id: "\(round)", 1, deadline: Timestamp(secondsSince1970: 5))
      _ = try await store.commit(sample.change(entry))
      _ = try await store.commit(sample.change(.deleteOutbox(id: "\(round)")))
    }
    _ = try await store.commit(Sample("other").create)
    let raw = try RawDatabase(directory)
    #expect(try raw.integers("SELECT slot FROM data_key") == [1, 2, 3, 4, 5, 6])
    try raw.close()
    await store.close()
  }

  /// Inserts, grows and deletes rows in an order that makes SQLite split and join pages. No destroyed key may stay in
  /// any file.
  @Test func leavesNoCopiesOfKeysBehind() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    var generator = SeededGenerator(seed: 42)
    var living: [Sample] = []
    var destroyed: [Data] = []
    for step in 0..<300 {
      let before = try step % 10 == 0 ? wrappedKeys(directory) : []
      switch Int.random(in: 0..<14, using: &generator) {
      case 0..<4:
        let sample = try Sample("instance-\(step)")
        _ = try await store.commit(sample.create)
        living.append(sample)
      case 4..<7:
        guard let sample = living.randomElement(using: &generator) else { continue }
        let text = String(repeating: "x", count: Int.random(in: 0..<6000, using: &generator))
        _ = try await store.commit(sample.change(.identify(.string(text))))
        _ = try await store.commit(sample.put("key-\(step % 7)", .string(text)))
      case 7..<9:
        guard let sample = living.randomElement(using: &generator) else { continue }
        _ = try await store.commit(sample.change(.wipe))
      case 9..<12:
        guard let sample = living.randomElement(using: &generator) else { continue }
        let text = String(repeating: "y", count: Int.random(in: 0..<3000, using: &generator))
        _ = try await store.commit(
          sample.change(
            .putPush(id: "\(step % 5)", .string(text)),
            .putOutbox(id: "\(step % 3)", .string(text), deadline: Timestamp(secondsSince1970: 5))))
      case 12:
        guard let sample = living.randomElement(using: &generator) else { continue }
        _ = try await store.commit(sample.change(.deleteOutbox(id: "\(step % 3)"), .deletePush(id: "\(step % 5)")))
      default:
        guard let index = living.indices.randomElement(using: &generator) else { continue }
        _ = try await store.commit(living.remove(at: index).change(.delete))
      }
      if step % 10 == 0 {
        let after = Set(try wrappedKeys(directory))
        destroyed += before.filter { !after.contains($0) }
      }
    }
    #expect(!destroyed.isEmpty)
    let files = try directory.files()
    for key in destroyed {
      #expect(files.filter { $0.value.range(of: key) != nil }.isEmpty)
    }
    for key in try wrappedKeys(directory) {
      let database = try #require(files["state.db"])
      #expect((database.count(of: key)) <= 1)
    }
    await store.close()
  }

  @Test func emptiesTheLogThatACrashLeft() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sample = try Sample()
    _ = try await store.commit(sample.create)
    #expect(try directory.files()["state.db-wal"]?.isEmpty == false)
    // A copy of the files has the state that a crash would leave.
    let copy = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: directory.state, toPath: copy.state)
    await store.close()
    let again = try await open(copy)
    #expect(try await again.loaded(sample) == sample.instance)
    #expect(try copy.files()["state.db-wal"]?.isEmpty == true)
    await again.close()
  }
}

extension Data {
  fileprivate func count(of bytes: Data) -> Int {
    var count = 0
    var rest = startIndex..<endIndex
    while let found = range(of: bytes, in: rest) {
      count += 1
      rest = found.upperBound..<endIndex
    }
    return count
  }
}
