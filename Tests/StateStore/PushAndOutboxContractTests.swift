import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// The contract of every store, in memory or on disk, for push registrations and the outbox.
@Suite struct PushAndOutboxContractTests {
  private static let deadline = Timestamp(secondsSince1970: 1_800_086_400.25)

  @Test(arguments: StoreUnderTest.allCases) func keepsPushesAndOutbox(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      _ = try await store.commit(
        sample.change(
          .putPush(id: "b", 1), .putPush(id: "a", ["address": "x"]),
          .putOutbox(id: "o", "first", deadline: Self.deadline)))
      _ = try await store.commit(
        sample.change(.putPush(id: "b", 2), .putOutbox(id: "o", "second", deadline: Self.deadline + 1)))
      var expected = sample.instance
      expected.pushes = [StoredPush(id: "a", value: ["address": "x"]), StoredPush(id: "b", value: 2)]
      expected.outbox = [StoredOutboxEntry(id: "o", value: "second", deadline: Self.deadline + 1)]
      #expect(try await store.loaded(sample) == expected)

      let gone = sample.change(
        .deletePush(id: "a"), .deletePush(id: "none"), .deleteOutbox(id: "o"), .deleteOutbox(id: "none"))
      _ = try await store.commit(gone)
      expected.pushes.removeFirst()
      expected.outbox = []
      #expect(try await store.loaded(sample) == expected)
      _ = try await store.commit(gone)
      #expect(try await store.loaded(sample) == expected)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func createsWithPushesAndOutbox(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      var instance = sample.instance
      instance.pushes = ["a", "b"].map { StoredPush(id: $0, value: .string($0)) }
      instance.outbox = ["c", "d"].map { StoredOutboxEntry(id: $0, value: .string($0), deadline: Self.deadline) }
      _ = try await store.commit(sample.change(.create(instance)))
      #expect(try await store.loaded(sample) == instance)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func wipesPushesAndKeepsTheOutbox(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(
        sample.change(
          .create(sample.instance), .putPush(id: "a", 1), .putPush(id: "b", 2),
          .putOutbox(id: "before", "old", deadline: Self.deadline)))
      let result = try await store.commit(
        sample.change(
          .putPush(id: "c", 3), .putOutbox(id: "with", "new", deadline: Self.deadline), .wipe,
          .putPush(id: "b", "again"), events: [.init(.identityWiped)]))
      #expect(result.wiped == CommitResult.Wiped(storage: 0, tokens: 0, pushes: 3, storageEpoch: 1))
      #expect(result.events.first?.data["pushes"] == 3)
      let loaded = try #require(try await store.loaded(sample))
      #expect(loaded.pushes == [StoredPush(id: "b", value: "again")])
      #expect(loaded.outbox.map(\.value) == ["old", "new"])
      // A push registration made after the wipe is found under the new key and replaced.
      _ = try await store.commit(sample.change(.putPush(id: "b", "replaced"), .deleteOutbox(id: "before")))
      #expect(try await store.loaded(sample)?.pushes == [StoredPush(id: "b", value: "replaced")])
      #expect(try await store.loaded(sample)?.outbox.map(\.id) == ["with"])
      #expect(try await store.commit(sample.change(.wipe)).wiped?.pushes == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func boundsPushes(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      let all = (0..<StoredPush.maximumCount).map { InstanceChange.Part.putPush(id: "\($0)", 1) }
      #expect(all.count == 64)
      _ = try await store.commit(InstanceChange(uuid: sample.uuid, id: sample.id, kind: sample.kind, parts: all))
      do throws(SDKError) {
        _ = try await store.commit(sample.change(.deleteValue(key: "x"), .putPush(id: "more", 1)))
        Issue.record("stored one too many")
      } catch {
        #expect(error.origin == .limit && error.reason == .storageFull)
        #expect(error.message.contains("64") && error.message.contains("unregister"))
      }
      _ = try await store.commit(sample.change(.putPush(id: "5", "replaced")))
      _ = try await store.commit(sample.change(.deletePush(id: "6"), .putPush(id: "more", 1)))
      #expect(try await store.loaded(sample)?.pushes.count == 64)
      _ = try await store.commit(sample.change(.wipe, .putPush(id: "first", 1)))
      #expect(try await store.loaded(sample)?.pushes.map(\.id) == ["first"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func boundsTheOutbox(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let (sample, other) = (try Sample("one"), try Sample("two"))
      _ = try await store.commit(sample.create)
      _ = try await store.commit(other.create)
      func put(_ id: String, _ value: JSON = 1) -> InstanceChange.Part {
        .putOutbox(id: id, value, deadline: Self.deadline)
      }
      let all = (0..<StoredOutboxEntry.maximumCount).map { put("\($0)") }
      #expect(all.count == 256)
      _ = try await store.commit(InstanceChange(uuid: sample.uuid, id: sample.id, kind: sample.kind, parts: all))
      do throws(SDKError) {
        _ = try await store.commit(sample.change(.wipe, put("more")))
        Issue.record("stored one too many")
      } catch {
        #expect(error.origin == .limit && error.reason == .storageFull && error.message.contains("256"))
      }
      #expect(try await store.loaded(sample)?.storageEpoch == 0)
      _ = try await store.commit(other.change(put("more")))
      _ = try await store.commit(sample.change(put("5", "replaced")))
      _ = try await store.commit(sample.change(.deleteOutbox(id: "6"), put("more")))
      let loaded = try #require(try await store.loaded(sample))
      #expect(loaded.outbox.count == 256 && loaded.outbox.contains { $0.value == "replaced" })
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func deletesThemWithTheInstance(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      let parts: [InstanceChange.Part] = [
        .create(sample.instance), .putPush(id: "p", 1), .putOutbox(id: "o", 1, deadline: Self.deadline),
      ]
      let make = InstanceChange(uuid: sample.uuid, id: sample.id, kind: sample.kind, parts: parts)
      _ = try await store.commit(make)
      _ = try await store.commit(sample.change(.delete))
      #expect(await reason { _ = try await store.commit(sample.change(.putPush(id: "p", 1))) } == .instanceNotFound)
      let late = sample.change(.putOutbox(id: "o", 1, deadline: Self.deadline))
      #expect(await reason { _ = try await store.commit(late) } == .instanceNotFound)
      _ = try await store.commit(sample.create)
      #expect(try await store.loaded(sample) == sample.instance)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func countsTheTokensOfServices(kind: StoreUnderTest) async throws {
    func identity(_ services: JSONObject) -> JSON { ["services": .object(services)] }
    let (a, b): (JSON, JSON) = (["credential": ["token": "a"]], ["user": "u", "credential": ["token": "b"]])
    let bare: JSON = ["user": "v", "credential": nil]
    let former = identity(["a": a, "b": b, "c": bare])
    let cases: [(former: JSON, parts: [InstanceChange.Part], tokens: Int)] = [
      (former, [.wipe], 2),
      (former, [.wipe, .identify(identity(["b": b, "c": bare]))], 1),
      (former, [.wipe, .identify(former)], 0),
      (former, [.wipe, .identify(identity(["b": b])), .identify(nil)], 2),
      // The user of service `a` is replaced, so the token of the former user is wiped too.
      (former, [.wipe, .identify(identity(["a": ["credential": ["token": "next"]], "b": b]))], 1),
      (former, [.identify(identity(["b": b])), .wipe], 1),
      (identity(["c": bare]), [.wipe, .identify(former)], 0),
      (a, [.wipe, .identify(a)], 1),
      (bare, [.wipe], 0),
    ]
    try await kind.with { store in
      for (index, item) in cases.enumerated() {
        let sample = try Sample("instance-\(index)")
        _ = try await store.commit(sample.change(.create(sample.instance), .identify(item.former)))
        let change = InstanceChange(
          uuid: sample.uuid, id: sample.id, kind: sample.kind, parts: item.parts, events: [.init(.identityWiped)])
        let result = try await store.commit(change)
        #expect(result.wiped?.tokens == item.tokens, "\(index)")
        #expect(result.events.first?.data["tokens"] == JSON(item.tokens), "\(index)")
      }
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func fencesThemByEpoch(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.change(.create(sample.instance), .raiseEpoch(to: 2)))
      let late = sample.change(
        .putPush(id: "p", 1), .putOutbox(id: "o", 1, deadline: Self.deadline), events: [.init(.pushRegistered)],
        epoch: 1)
      #expect(await reason { _ = try await store.commit(late) } == .epochChanged)
      let broken = sample.change(
        .putPush(id: "p", 1), .putOutbox(id: "o", 1, deadline: Self.deadline), .raiseEpoch(to: 1))
      #expect(await reason { _ = try await store.commit(broken) } == .epochChanged)
      let loaded = try #require(try await store.loaded(sample))
      #expect(loaded.pushes.isEmpty && loaded.outbox.isEmpty)
    }
  }
}
