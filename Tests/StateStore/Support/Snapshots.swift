import Foundation
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Snapshots of the state directory as `kill -9` would leave it, one for each moment that the writer passes. Nothing is
/// killed: each is a copy of the files.
final class Snapshots: Sendable {
  private let taken = Seen<[(moment: StoreTuning.Moment, directory: TemporaryDirectory)]>([])
  private let isOn = Seen(false)

  /// The snapshots so far, in order.
  var all: [(moment: StoreTuning.Moment, directory: TemporaryDirectory)] { taken.value }

  func start() { isOn.set(true) }

  func stop() { isOn.set(false) }

  /// Returns a tuning that takes a snapshot of a directory at each moment between `start` and `stop`.
  ///
  /// - Parameter isTaken: whether to take a snapshot at a moment. While one backup is changed, others may be, and their
  ///   journals come and go. So that moment is for directories with a single backup.
  func tuning(
    of directory: TemporaryDirectory,
    at isTaken: @escaping @Sendable (StoreTuning.Moment) -> Bool = { $0 != .editedCopy }
  ) -> StoreTuning {
    var tuning = StoreTuning()
    tuning.at = { [self] moment, _ in
      guard isOn.value, isTaken(moment) else { return }
      let copy = try TemporaryDirectory()
      try FileManager.default.copyItem(atPath: directory.state, toPath: copy.state)
      taken.update { $0.append((moment, copy)) }
    }
    return tuning
  }
}

extension TemporaryDirectory {
  /// Returns the wrapped keys in the database.
  func wrappedKeys() throws -> [Data] {
    let raw = try RawDatabase(self)
    defer { try? raw.close() }
    return try raw.data("SELECT wrapped FROM data_key").filter { $0 != Data(count: DataKey.wrappedBytes) }
  }

  /// Returns the wrapped master key in the database.
  func wrappedMaster() throws -> Data {
    let raw = try RawDatabase(self)
    defer { try? raw.close() }
    return try #require(try raw.data("SELECT value FROM meta WHERE name = 'master_key'").first)
  }

  /// Returns the sorted names of the files in the backup directory.
  func copies() throws -> [String] {
    let folder = state + "/backups"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  /// Replaces the database with a backup, as an operator would by hand.
  func restore(_ copy: String) throws {
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + ending) }
    try FileManager.default.copyItem(atPath: state + "/backups/\(copy).db", toPath: database)
  }

  /// Overwrites the whole database, so that it cannot be opened.
  func damage() throws {
    try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: database))
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + ending) }
  }
}

extension Sample {
  /// A change that creates the instance with every kind of data: identity, storage, push, outbox and events.
  var fill: InstanceChange {
    change(
      .create(instance), .identify(Self.identity), .putValue(key: "draft", value: "hello", limit: 1000),
      .putPush(id: "push", "address"), .putOutbox(id: "entry", "logout", deadline: Timestamp(secondsSince1970: 5)),
      events: [.init(.instanceCreated), .init(.userLoggedIn, data: ["user": "u"])])
  }

  /// Checks that all data of `fill` can be read.
  func expectFilled(_ store: SQLiteStateStore, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let state = try await store.load()
    #expect(state.quarantined.isEmpty, sourceLocation: sourceLocation)
    let loaded = state.instances.first { $0.uuid == uuid }
    #expect(loaded?.identity == Self.identity, sourceLocation: sourceLocation)
    #expect(loaded?.pushes == [StoredPush(id: "push", value: "address")], sourceLocation: sourceLocation)
    #expect(loaded?.outbox.map(\.value) == ["logout"], sourceLocation: sourceLocation)
    #expect(try await store.storageValue(of: uuid, key: "draft")?.value == "hello", sourceLocation: sourceLocation)
    let events = try await store.events(after: 0, limit: 100).filter { $0.uuid == uuid }
    #expect(events.prefix(2).map(\.type) == [.instanceCreated, .userLoggedIn], sourceLocation: sourceLocation)
  }
}
