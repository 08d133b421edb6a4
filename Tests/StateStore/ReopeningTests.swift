import Dispatch
import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

@Suite struct ReopeningTests {
  @Test func showsExactlyWhatWasAcknowledged() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let samples = try (0..<5).map { try Sample("instance-\($0)") }
    var events: [StoredEvent] = []
    for sample in samples {
      events += try await store.commit(
        sample.change(.create(sample.instance), .identify(Sample.identity), events: [.init(.instanceCreated)])
      ).events
      _ = try await store.commit(sample.put("key", .string(sample.id.name)))
    }
    _ = try await store.commit(samples[0].change(.wipe))
    _ = try await store.commit(samples[1].change(.delete))
    let before = try await store.load()
    await store.close()
    #expect(await reason { _ = try await store.commit(samples[2].put("late", 1)) } == .storeUnavailable)
    #expect(await reason { _ = try await store.load() } == .storeUnavailable)

    let again = try await open(directory)
    let after = try await again.load()
    #expect(after.instances == before.instances && after.quarantined.isEmpty)
    #expect(after.instances.map(\.id.name) == ["instance-0", "instance-2", "instance-3", "instance-4"])
    #expect(try await again.storageValue(of: samples[0].uuid, key: "key")?.value == nil)
    #expect(try await again.storageValue(of: samples[2].uuid, key: "key")?.value == "instance-2")
    #expect(try await again.events(after: 0, limit: 100) == events)
    await again.close()
  }

  @Test func neverGivesAPositionTwice() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let keepNothing = EventRetention(maxCountPerInstance: 0)
    for round in 1...3 {
      let store = try await open(directory, retention: keepNothing)
      let result = try await store.commit(sample.change(events: [.init(.networkError), .init(.networkError)]))
      #expect(result.events.map(\.position) == [UInt64(round * 2 - 1), UInt64(round * 2)])
      await store.applyRetention()
      #expect(try await store.events(after: 0, limit: 10).isEmpty)
      let page = try await store.eventPage(after: 0, limit: 10, of: nil)
      #expect(page.newest == UInt64(round * 2) && page.lost == [.anyDeleted: page.newest])
      await store.close()
    }
  }

  @Test func finishesWhatWasAcceptedWhenStopped() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let samples = try (0..<200).map { try Sample("instance-\($0)") }
    let run = Task { await store.run() }
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for (index, sample) in samples.enumerated() {
        group.addTask { (try? await store.commit(sample.create)) != nil }
        if index == 100 { run.cancel() }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    await run.value
    await store.close()
    let again = try await open(directory)
    #expect(try await again.load().instances.count == outcomes)
    await again.close()
  }

  @Test func keepsAChangeWhoseCallerWasCancelled() async throws {
    let directory = try TemporaryDirectory()
    let gate = DispatchSemaphore(value: 0)
    let begun = Seen(false)
    var tuning = StoreTuning()
    tuning.at = { moment, _ in
      guard case .begun = moment else { return }
      begun.set(true)
      gate.wait()
    }
    let store = try await open(directory, tuning: tuning)
    let sample = try Sample()
    let caller = Task { try await store.commit(sample.create) }
    while !begun.value { await Task.yield() }
    caller.cancel()
    gate.signal()
    // A cancelled caller still gets the result, and the change is committed.
    #expect((try? await caller.value) != nil)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.commit(sample.put("key", 1))
    }
    gate.signal()
    _ = try await cancelled.value
    #expect(try await store.loaded(sample) == sample.instance)
    #expect(try await store.storageValue(of: sample.uuid, key: "key")?.value == 1)
    await store.close()
  }
}
