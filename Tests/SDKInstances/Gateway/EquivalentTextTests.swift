import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances

/// Texts that are canonically equivalent (Unicode) and differ in their bytes. They are equal as Swift strings.
struct EquivalentTextTests {
  private static let pairs = [("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{387}", "\u{B7}")]

  private static let patches: [@Sendable (String) -> JSONObject] = [
    { ["labels": ["desk": .string($0)]] }, { ["access": ["use": [.string("user:x\($0)")]]] },
  ]

  @Test("An update replaces a text by an equivalent one", arguments: patches.indices, pairs)
  func updates(patch: Int, pair: (String, String)) async throws {
    try await World.run { world in
      _ = try await world.instance()
      let session = world.session()
      for (count, character) in [pair.0, pair.1].enumerated() {
        let text = "a\(character)b"
        let params = (["instance": "desk"] as JSONObject).merged(with: Self.patches[patch](text))
        let shown = try await world.call("instance.update", .object(params), on: session).get()
        #expect(JSONWriter.text(of: shown).utf8.count(of: text) == 1)
        #expect(try await world.count(.instanceUpdated) == count + 1)
      }
    }
  }

  @Test("A filter selects labels of the same bytes", arguments: pairs)
  func filters(pair: (String, String)) async throws {
    try await World.run { world in
      _ = try await world.instance(labels: ["value": pair.0, pair.0: "name"])
      let session = world.session()
      for (labels, isMatch) in [
        (["value": pair.0], true), (["value": pair.1], false), ([pair.0: "name"], true), ([pair.1: "name"], false),
      ] {
        let filter: JSON = ["labels": .object(JSONObject(labels.map { ($0.key, .string($0.value)) }))]
        for (method, list) in [("instance.list", "instances"), ("events.list", "events")] {
          let found = try await world.call(method, filter, on: session).get()[list]?.arrayValue
          #expect(found?.isEmpty == !isMatch, "\(method)")
        }
      }
    }
  }

  @Test("A label with an equivalent name is refused, and its removal removes no other", arguments: pairs)
  func labelNames(pair: (String, String)) async throws {
    try await World.run { world in
      _ = try await world.instance(labels: [pair.0: "1"])
      let session = world.session()
      func update(_ value: JSON) async -> Result<JSON, RPCError> {
        await world.call("instance.update", ["instance": "desk", "labels": [pair.1: value]], on: session)
      }
      let refusal = await update("2").error
      #expect(refusal?.data["member"] == "labels")
      #expect(refusal?.message.contains("composed in another way") == true)
      #expect(await update(.null).value?["labels"] == [pair.0: "1"])
    }
  }
}

extension Collection<UInt8> {
  /// Returns how often the bytes of a text occur.
  fileprivate func count(of text: String) -> Int {
    indices.count { self[$0...].starts(with: text.utf8) }
  }
}
