import Dispatch
import Glibc
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

@Suite struct GroupCommitTests {
  /// Runs `body` with a store whose first transaction waits at a gate, and with the sizes of the batches begun.
  private func gated(
    _ tuning: StoreTuning = StoreTuning(),
    _ body: (SQLiteStateStore, DispatchSemaphore, Seen<[Int]>) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let gate = DispatchSemaphore(value: 0)
    let sizes = Seen<[Int]>([])
    var tuning = tuning
    tuning.at = { moment, _ in
      guard case .begun(let changes) = moment else { return }
      let isFirst = sizes.update { sizes in
        sizes.append(changes)
        return sizes.count == 1
      }
      if isFirst { gate.wait() }
    }
    let store = try await open(directory, tuning: tuning)
    try await body(store, gate, sizes)
    await store.close()
  }

  /// Commits each change in its own task while the first transaction holds the writer, then opens the gate. Returns the
  /// results in the order of `changes`.
  private func commit(
    _ changes: [InstanceChange], _ store: SQLiteStateStore, _ gate: DispatchSemaphore, _ sizes: Seen<[Int]>
  ) async throws -> [Result<CommitResult, SDKError>] {
    let opener = try Sample("opener")
    async let first = store.commit(opener.create)
    while sizes.value.isEmpty { await Task.yield() }
    let refused = Seen(0)
    let results = await withTaskGroup(of: (Int, Result<CommitResult, SDKError>).self) { group in
      for (index, change) in changes.enumerated() {
        let waiting = store.waitingCount
        let refusedBefore = refused.value
        group.addTask {
          // Kept apart from the tuple: in release builds Swift 6.3 loses the index in `(index, .success(try await …))`.
          let result: Result<CommitResult, SDKError>
          do throws(SDKError) {
            result = .success(try await store.commit(change))
          } catch {
            result = .failure(error)
            refused.update { $0 += 1 }
          }
          return (index, result)
        }
        // Keep the order: submit the next change only when this one is queued or refused.
        while store.waitingCount == waiting, refused.value == refusedBefore { await Task.yield() }
      }
      gate.signal()
      var results = [Result<CommitResult, SDKError>?](repeating: nil, count: changes.count)
      for await (index, result) in group { results[index] = result }
      return results.compactMap { $0 }
    }
    _ = try await first
    return results
  }

  @Test func sharesATransaction() async throws {
    try await gated { store, gate, sizes in
      let samples = try (0..<50).map { try Sample("instance-\($0)") }
      let results = try await commit(samples.map(\.create), store, gate, sizes)
      #expect(results.allSatisfy { (try? $0.get()) != nil })
      #expect(sizes.value == [1, 50])
      #expect(try await store.load().instances.count == 51)
    }
  }

  @Test func boundsATransaction() async throws {
    var tuning = StoreTuning()
    tuning.batchLimit = 20
    try await gated(tuning) { store, gate, sizes in
      let samples = try (0..<50).map { try Sample("instance-\($0)") }
      _ = try await commit(samples.map(\.create), store, gate, sizes)
      #expect(sizes.value == [1, 20, 20, 10])
    }
  }

  @Test func rollsBackOnlyWhatFails() async throws {
    try await gated { store, gate, sizes in
      let (one, two) = (try Sample("one"), try Sample("two"))
      let results = try await commit(
        [
          one.create, Sample("one").create, two.create,
          two.change(.identify("lost"), .putValue(key: "k", value: "too long", limit: 3)),
          one.change(.identify("kept"), .raiseEpoch(to: 1), epoch: 0),
          one.change(.identify("late"), epoch: 0), one.put("key", 1),
        ], store, gate, sizes)
      let reasons = results.map { result -> Reason? in
        if case .failure(let error) = result { error.reason } else { nil }
      }
      #expect(reasons == [nil, .instanceExists, nil, .storageFull, nil, .epochChanged, nil])
      #expect(sizes.value == [1, 7])
      #expect(try await store.loaded(one)?.identity == "kept")
      #expect(try await store.loaded(two)?.identity == nil)
      #expect(try await store.storageValue(of: one.uuid, key: "key")?.value == 1)
    }
  }

  @Test func keepsTheOrderOfCalls() async throws {
    try await gated { store, gate, sizes in
      let sample = try Sample()
      let changes =
        [sample.create]
        + (1...100).map { sample.change(.raiseEpoch(to: UInt64($0)), events: [.init(.identityChanged)]) }
      let results = try await commit(changes, store, gate, sizes)
      #expect(results.allSatisfy { (try? $0.get()) != nil })
      let positions = results.flatMap { (try? $0.get())?.events.map(\.position) ?? [] }
      #expect(positions == Array(1...100))
      #expect(try await store.loaded(sample)?.epoch == 100)
    }
  }

  @Test func refusesMoreThanMayWait() async throws {
    var tuning = StoreTuning()
    tuning.queueLimit = 10
    try await gated(tuning) { store, gate, sizes in
      let samples = try (0..<12).map { try Sample("instance-\($0)") }
      let results = try await commit(samples.map(\.create), store, gate, sizes)
      let refused = results.filter {
        if case .failure(let error) = $0 { error.reason == .storeUnavailable } else { false }
      }
      #expect(refused.count == 2)
      #expect(store.health == .ok)
    }
  }

  @Test("Changes that no caller waits for are accepted when the queue is full, and leave the callers their room")
  func undemandedChangesAreNotRefused() async throws {
    var tuning = StoreTuning()
    tuning.queueLimit = 10
    try await gated(tuning) { store, gate, sizes in
      let samples = try (0..<42).map { try Sample("instance-\($0)") }
      var changes = samples.map(\.create)
      for index in 0..<30 { changes[index].isDemanded = false }
      let results = try await commit(changes, store, gate, sizes)
      let refused = results.map { if case .failure = $0 { true } else { false } }
      #expect(refused == (0..<42).map { $0 >= 40 })
      #expect(sizes.value == [1, 40])
    }
  }

  @Test("A health probe, a backup and a wipe end while changes arrive all the time")
  func steadyChangesDelayNoOtherWork() async throws {
    let directory = try TemporaryDirectory()
    let (busy, wiped) = (try Sample("busy"), try Sample("wiped"))
    let (held, groups) = (Seen<SQLiteStateStore?>(nil), Seen(0))
    var tuning = StoreTuning()
    tuning.at = { moment, _ in
      guard moment.isBegun, let store = held.value else { return }
      let count = groups.update { count in
        count += 1
        return count
      }
      guard count < 1000 else { return }
      // The next change waits before this transaction ends, so the writer never finds its queue empty.
      Task { _ = try? await store.commit(busy.put("key", 1)) }
      var patience = 10_000
      while store.waitingCount == 0, patience > 0 {
        usleep(100)
        patience -= 1
      }
    }
    let store = try await open(directory, tuning: tuning)
    for sample in [busy, wiped] { _ = try await store.commit(sample.create) }
    held.set(store)
    _ = try await store.commit(busy.put("key", 1))
    await withCheckedContinuation { (probe: CheckedContinuation<Void, Never>) in store.answer { probe.resume() } }
    _ = try await store.backUp(keep: 3)
    #expect(try await store.commit(wiped.change(.wipe)).unfinished == nil)
    #expect(groups.value < 1000)
    held.set(nil)
    await store.close()
  }

  @Test func readsWhileItWrites() async throws {
    let directory = try TemporaryDirectory()
    let gate = DispatchSemaphore(value: 0)
    let isHeld = Seen(false)
    var tuning = StoreTuning()
    tuning.at = { moment, _ in
      guard moment == .committing, isHeld.value else { return }
      isHeld.set(false)
      gate.wait()
    }
    let store = try await open(directory, tuning: tuning)
    let sample = try Sample()
    _ = try await store.commit(sample.create)
    _ = try await store.commit(sample.put("key", "before"))
    isHeld.set(true)
    async let write = store.commit(sample.put("key", "after"))
    while isHeld.value { await Task.yield() }
    #expect(try await store.storageValue(of: sample.uuid, key: "key")?.value == "before")
    gate.signal()
    _ = try await write
    #expect(try await store.storageValue(of: sample.uuid, key: "key")?.value == "after")
    await store.close()
  }
}
