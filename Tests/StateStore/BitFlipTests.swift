import Foundation
import JSONRPC
import Logging
import Randomness
import SDKProtocol
import Testing

@testable import StateStore

/// A disk or memory that changes single bits of a state.
@Suite struct BitFlipTests {
  /// The contents of a state, as clients can read them.
  private struct Contents {
    var instances: [InstanceUUID: StoredInstance] = [:]
    var quarantined: Set<InstanceUUID> = []
    var values: [InstanceUUID: [String: JSON]] = [:]
    /// The instances of which a value could not be read.
    var refused: Set<InstanceUUID> = []
    var events: [UInt64: StoredEvent] = [:]
    var lost: [InstanceUUID: UInt64] = [:]
    /// Whether a new event can be read after the others.
    var takesEvents = true
    /// Whether health, a notice or the log reports the damage.
    var isReported = false
  }

  private static let keys = (0..<12).map { "key-\($0)" }

  private func prepare(_ directory: TemporaryDirectory) async throws -> [Sample] {
    let store = try await open(directory)
    let samples = try (0..<6).map { try Sample("desk-\($0)") }
    for sample in samples {
      _ = try await store.commit(sample.fill)
      for key in Self.keys { _ = try await store.commit(sample.put(key, .string("value of \(key)"))) }
      for number in 0..<10 {
        _ = try await store.commit(sample.change(events: [.init(.tokenRefreshed, data: ["number": JSON(number)])]))
      }
    }
    await store.close()
    return samples
  }

  /// Reads everything; `nil` if the state is refused.
  private func read(_ directory: TemporaryDirectory, _ samples: [Sample]) async throws -> Contents? {
    let store: SQLiteStateStore
    let lines = Seen<[String]>([])
    do {
      store = try await SQLiteStateStore.open(
        directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
    } catch {
      return nil
    }
    var contents = Contents()
    do {
      let state = try await store.load()
      for instance in state.instances { contents.instances[instance.uuid] = instance }
      contents.quarantined = Set(state.quarantined.map(\.uuid))
      for uuid in samples.map(\.uuid) {
        for key in Self.keys + ["draft"] {
          do {
            if let value = try await store.storageValue(of: uuid, key: key) {
              contents.values[uuid, default: [:]][key] = value.value
            }
          } catch {
            contents.refused.insert(uuid)
          }
        }
      }
      let page = try await store.eventPage(after: 0, limit: 1000, of: nil)
      for event in page.events { contents.events[event.position] = event }
      contents.lost = page.lost
      if let sample = samples.first(where: { contents.instances[$0.uuid] != nil }) {
        _ = try await store.commit(sample.change(events: [.init(.networkError)]))
        let next = try await store.eventPage(after: page.newest, limit: 1, of: nil).events
        contents.takesEvents = next.map(\.type) == [.networkError] && next[0].position > page.newest
      }
    } catch {
      // A change that fails reports the damage, too.
      await store.close()
      return nil
    }
    let health = store.health != .ok || store.meta.notice != nil || store.meta.repair != nil
    contents.isReported = health || lines.value.contains { $0.contains("outbox") }
    await store.close()
    return contents
  }

  @Test("Of 400 flipped bits, each is served right, refused, or shown")
  func flippedBits() async throws {
    let whole = try TemporaryDirectory()
    let samples = try await prepare(whole)
    let truth = try #require(try await read(whole, samples))
    #expect(truth.instances.count == 6 && truth.events.count == 72 && !truth.isReported)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole.database))
    var random = SeededGenerator(seed: 11)
    var outcomes: [String: Int] = [:]
    for _ in 0..<400 {
      let place = Int(random.next() % UInt64(bytes.count * 8))
      let copy = try TemporaryDirectory()
      try FileManager.default.copyItem(atPath: whole.state, toPath: copy.state)
      var changed = bytes
      changed[place / 8] ^= 1 << UInt8(place % 8)
      try changed.write(to: URL(fileURLWithPath: copy.database))
      guard let seen = try await read(copy, samples) else {
        outcomes["refused", default: 0] += 1
        continue
      }
      let silent = Self.losses(of: truth, in: seen)
      outcomes[silent.isEmpty ? (seen.isReported ? "shown" : "right") : "silent", default: 0] += 1
      #expect(silent.isEmpty, "bit \(place % 8) of byte \(place / 8): \(silent.joined(separator: "; "))")
    }
  }

  @Test(
    "A state whose newest position is wrong is damaged",
    arguments: [
      "UPDATE sqlite_sequence SET seq = 1", "UPDATE sqlite_sequence SET seq = -5",
      "UPDATE sqlite_sequence SET seq = 'x'",
      "UPDATE sqlite_sequence SET seq = 9223372036854775807", "DELETE FROM sqlite_sequence",
      "UPDATE event_gap SET position = 1 << 40",
    ])
  func wrongPosition(sql: String) async throws {
    let directory = try TemporaryDirectory()
    _ = try await prepare(directory)
    let raw = try RawDatabase(directory)
    try raw.execute("INSERT INTO event_gap VALUES ('a', 2, 0)")
    try raw.execute(sql)
    try raw.close()
    await #expect(throws: StoreOpenError.corrupt("the number of the newest event is wrong")) {
      await (try open(directory)).close()
    }
  }

  /// Returns what is missing or different without a sign of it.
  private static func losses(of truth: Contents, in seen: Contents) -> [String] {
    if seen.isReported { return [] }
    var found = seen.takesEvents ? [] : ["a new event"]
    for (uuid, instance) in truth.instances where !seen.quarantined.contains(uuid) {
      if seen.instances[uuid] != instance { found.append("instance \(instance.id)") }
      for (key, value) in truth.values[uuid] ?? [:] where !seen.refused.contains(uuid) {
        if seen.values[uuid]?[key] != value { found.append("\(key) of \(instance.id)") }
      }
    }
    for (position, event) in truth.events where seen.events[position] != event {
      if max(seen.lost[event.uuid] ?? 0, seen.lost[.anyDeleted] ?? 0) < position { found.append("event \(position)") }
    }
    return found
  }
}
