import JSONRPC
import SDKProtocol
import StateStore
import Testing

/// The limit on the data of an event.
@Suite struct EventDataTests {
  private func written(_ data: JSONObject, to store: any StateStore) async throws -> JSONObject {
    let sample = try Sample("i\(data.count)")
    _ = try await store.commit(sample.create)
    let done = try await store.commit(sample.change(events: [.init(.userLoggedIn, data: data)]))
    let stored = try #require(try await store.events(after: 0, limit: 100).last)
    #expect(stored.data == done.events.last?.data)
    return stored.data
  }

  @Test(arguments: StoreUnderTest.allCases) func keepsDataThatFits(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let data: JSONObject = ["user": ["name": .string(String(repeating: "x", count: 8000))]]
      let stored = try await written(data, to: store)
      #expect(stored == data)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func cutsDataToEightKibibytes(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let cluster = "a" + String(repeating: "\u{301}", count: 100_000)
      let data: JSONObject = [
        "reason": "invalidAuth", "user": ["id": "u1", "name": .string(cluster), "email": .string(cluster)],
        "hints": .array((0..<10_000).map { .string("hint \($0)") }),
      ]
      let stored = try await written(data, to: store)
      #expect(JSONWriter.bytes(of: .object(stored)).count <= 8192)
      #expect(stored["reason"] == "invalidAuth")
      #expect(stored["user"]?["id"] == "u1")
      let names = JSONObject((0..<1000).map { ("\($0)" + String(repeating: "n", count: 100), JSON(1)) })
      let cut = try await written(names, to: store)
      #expect(JSONWriter.bytes(of: .object(cut)).count <= 8192)
    }
  }
}
