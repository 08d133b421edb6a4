import JSONRPC
import SDKProtocol
import StateStore
import Testing

/// The contract of every store, in memory or on disk, for storage and events.
@Suite struct StorageContractTests {
  @Test(arguments: StoreUnderTest.allCases) func keepsValuesAsTheyWereWritten(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      let text = #"{"z":1.0,"a":1e2,"n":12345678901234567890123,"s":"é\u0001\"","l":[null,true,{}]}"#
      _ = try await store.commit(sample.put("draft", try JSONParser.parse(text)))
      let value = try #require(try await store.storageValue(of: sample.uuid, key: "draft"))
      #expect(JSONWriter.text(of: try #require(value.value)) == text)
      #expect(value.storageEpoch == 0)
      #expect(try await store.storageValue(of: sample.uuid, key: "other")?.value == nil)
      #expect(try await store.storageKeys(of: sample.uuid).map(\.bytes) == [text.utf8.count])
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func bindsStorageByItsLimit(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      // Each entry counts nine bytes: a key of one byte and a value of eight, quotes included.
      _ = try await store.commit(sample.put("a", "123456", limit: 20))
      _ = try await store.commit(sample.put("b", "123456", limit: 20))
      #expect(await reason { _ = try await store.commit(sample.put("c", 10, limit: 20)) } == .storageFull)
      #expect(await reason { _ = try await store.commit(sample.put("b", "12345678901", limit: 20)) } == .storageFull)
      #expect(try await store.storageValue(of: sample.uuid, key: "b")?.value == "123456")
      _ = try await store.commit(sample.put("b", "12345678", limit: 20))
      _ = try await store.commit(sample.change(.deleteValue(key: "a"), .deleteValue(key: "not there")))
      _ = try await store.commit(sample.put("c", "123456", limit: 20))
      #expect(try await store.storageKeys(of: sample.uuid).map(\.key) == ["b", "c"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func pagesThroughAllKeysOnce(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let sample = try Sample()
      _ = try await store.commit(sample.create)
      let keys = (0..<50).map { "key-\($0)" }
      for key in keys { _ = try await store.commit(sample.put(key, 1)) }
      var found: [String] = []
      while true {
        let page = try #require(try await store.storagePage(of: sample.uuid, after: found.last, limit: 7)).keys
        #expect(page.count <= 7)
        found += page.map(\.key)
        if page.isEmpty { break }
      }
      #expect(found.count == keys.count)
      #expect(Set(found) == Set(keys))
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func keepsInstancesApart(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let samples = [try Sample("one"), try Sample("two")]
      for sample in samples {
        _ = try await store.commit(sample.create)
        _ = try await store.commit(sample.put("key", .string(sample.id.name)))
      }
      _ = try await store.commit(samples[0].change(.wipe))
      #expect(try await store.storageValue(of: samples[0].uuid, key: "key")?.value == nil)
      #expect(try await store.storageValue(of: samples[1].uuid, key: "key")?.value == "two")
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func ordersEvents(kind: StoreUnderTest) async throws {
    let clock = TestClock()
    try await kind.with(clock: clock) { store in
      let sample = try Sample()
      #expect(try await store.newestPosition() == 0)
      let first = try await store.commit(
        sample.change(
          .create(sample.instance),
          events: [
            .init(.instanceCreated), .init(.userLoggedIn, service: "chat", operation: "op-1", data: ["user": "u"]),
          ]))
      clock.advance(by: 1)
      let second = try await store.commit(sample.change(events: [.init(.tokenRefreshed)]))
      let all = first.events + second.events
      #expect(all.map(\.position) == [1, 2, 3])
      #expect(all.map(\.uuid) == Array(repeating: sample.uuid, count: 3))
      #expect(all[1].service == "chat" && all[1].operation == "op-1" && all[1].data == ["user": "u"])
      #expect(all[2].time - all[1].time == 1)
      #expect(try await store.events(after: 0, limit: 10) == all)
      #expect(try await store.events(after: 1, limit: 1) == [all[1]])
      #expect(try await store.events(after: .max, limit: 10).isEmpty)
      #expect(try await store.events(after: 0, limit: -1).isEmpty)
      #expect(try await store.newestPosition() == 3)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func retainsByCountAndAge(kind: StoreUnderTest) async throws {
    let clock = TestClock()
    let retention = EventRetention(maxAge: 100, maxCountPerInstance: 3)
    try await kind.with(clock: clock, retention: retention) { store in
      let (busy, quiet) = (try Sample("busy"), try Sample("quiet"))
      _ = try await store.commit(quiet.change(.create(quiet.instance), events: [.init(.instanceCreated)]))
      for _ in 0..<5 { _ = try await store.commit(busy.change(events: [.init(.networkError)])) }
      await store.applyRetention()
      #expect(try await store.events(after: 0, limit: 10).map(\.position) == [1, 4, 5, 6])
      #expect(try await store.eventPage(after: 0, limit: 0, of: nil).lost == [busy.uuid: 3])

      clock.advance(by: 101)
      _ = try await store.commit(busy.change(events: [.init(.networkError)]))
      await store.applyRetention()
      #expect(try await store.events(after: 0, limit: 10).map(\.position) == [7])
      let page = try await store.eventPage(after: 0, limit: 0, of: nil)
      #expect(page.newest == 7 && page.lost == [busy.uuid: 6, quiet.uuid: 1])
    }
  }
}
