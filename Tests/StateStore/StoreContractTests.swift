import JSONRPC
import SDKProtocol
import StateStore
import Testing

/// The contract of every store, in memory or on disk, for instances.
@Suite struct StoreContractTests {
  @Test(arguments: StoreUnderTest.allCases) func keepsWhatWasCommitted(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      #expect(try await store.loaded(sample) == sample.instance)

      _ = try await store.commit(
        sample.change(.identify(Sample.identity), .raiseEpoch(to: 1), .define(["kind": "other"]), epoch: 0))
      let loaded = try #require(try await store.loaded(sample))
      #expect(loaded.identity == Sample.identity)
      #expect(loaded.definition == ["kind": "other"])
      #expect(loaded.epoch == 1)
      #expect(loaded.createdAt == sample.instance.createdAt)
      #expect(loaded.clientStorageEpoch == "\(sample.uuid.description.prefix(8))-0")

      _ = try await store.commit(sample.change(.identify(nil)))
      #expect(try await store.loaded(sample)?.identity == nil)
      #expect(store.health == .ok)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func keepsNullApartFromNothing(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.change(.create(sample.instance), .identify(.null)))
      #expect(try await store.loaded(sample)?.identity == .some(.null))
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func refusesANameThatIsTaken(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      _ = try await store.commit(Sample("one").create)
      let other = try Sample("one")
      #expect(await reason { _ = try await store.commit(other.create) } == .instanceExists)
      #expect(try await store.load().instances.count == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func fencesByEpoch(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      _ = try await store.commit(sample.change(.raiseEpoch(to: 7), epoch: 0))
      #expect(await reason { _ = try await store.commit(sample.change(.identify("late"), epoch: 0)) } == .epochChanged)
      #expect(await reason { _ = try await store.commit(sample.change(.raiseEpoch(to: 7))) } == .epochChanged)
      #expect(try await store.loaded(sample)?.identity == nil)
      _ = try await store.commit(sample.change(.identify("in time"), epoch: 7))
      #expect(try await store.loaded(sample)?.identity == "in time")

      _ = try await store.commit(sample.change(.wipe))
      let late = sample.put("draft", "late", storageEpoch: 0)
      #expect(await reason { _ = try await store.commit(late) } == .epochChanged)
      _ = try await store.commit(sample.put("draft", "in time", storageEpoch: 1))
      #expect(try await store.storageValue(of: sample.uuid, key: "draft")?.value == "in time")
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func appliesAChangeAsAWhole(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      let failing = sample.change(
        .identify("gone again"), .putValue(key: "a", value: 1, limit: 100), .raiseEpoch(to: 0),
        events: [.init(.userLoggedIn)])
      #expect(await reason { _ = try await store.commit(failing) } == .epochChanged)
      #expect(try await store.loaded(sample) == sample.instance)
      #expect(try await store.storageValue(of: sample.uuid, key: "a")?.value == nil)
      #expect(try await store.events(after: 0, limit: 10).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func deletesAndForgets(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      _ = try await store.commit(sample.put("a", 1))
      _ = try await store.commit(sample.change(.delete, events: [.init(.instanceDeleted)]))
      #expect(try await store.load().instances.isEmpty)
      #expect(try await store.storageValue(of: sample.uuid, key: "a")?.value == nil)
      #expect(try await store.storageKeys(of: sample.uuid).isEmpty)
      #expect(try await store.events(after: 0, limit: 10).map(\.type) == [.instanceDeleted])
      #expect(await reason { _ = try await store.commit(sample.put("a", 1)) } == .instanceNotFound)
      #expect(await reason { _ = try await store.commit(sample.change(.delete)) } == .instanceNotFound)
      _ = try await store.commit(Sample(sample.id.name).create)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func destroysWithAWipe(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.change(.create(sample.instance), .identify(Sample.identity)))
      for key in ["a", "b"] { _ = try await store.commit(sample.put(key, "old")) }
      let result = try await store.commit(
        sample.change(
          .raiseEpoch(to: 1), .wipe, .identify(["user": "next"]), .putValue(key: "c", value: "new", limit: 100),
          events: [.init(.identityWiped), .init(.userLoggedIn)], epoch: 0))

      #expect(result.wiped == CommitResult.Wiped(storage: 2, tokens: 1, pushes: 0, storageEpoch: 1))
      let epoch = "\(sample.uuid.description.prefix(8))-1"
      let data: JSONObject = ["storage": 2, "pushes": 0, "tokens": 1, "storageEpoch": .string(epoch)]
      #expect(result.events.map(\.data) == [data, [:]])
      #expect(try await store.events(after: 0, limit: 10) == result.events)
      let loaded = try #require(try await store.loaded(sample))
      #expect(loaded.definition == sample.instance.definition)
      #expect(loaded.identity == ["user": "next"])
      #expect((loaded.epoch, loaded.storageEpoch) == (1, 1))
      #expect(loaded.clientStorageEpoch == epoch)
      #expect(try await store.storageKeys(of: sample.uuid).map(\.key) == ["c"])
      #expect(try await store.storageValue(of: sample.uuid, key: "c")?.storageEpoch == 1)

      let again = try await store.commit(sample.change(.wipe))
      #expect(again.wiped == CommitResult.Wiped(storage: 1, tokens: 0, pushes: 0, storageEpoch: 2))
    }
  }
}
