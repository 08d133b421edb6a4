import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct ReplyBoundTests {
  private func pages(
    _ world: World, _ method: String, _ params: JSONObject, _ members: String, uid: UInt32 = 0
  ) async throws -> [[JSON]] {
    var pages: [[JSON]] = []
    var params = params
    while pages.count < 1000 {
      let page = try await world.call(method, .object(params), on: world.session(uid: uid)).get()
      #expect(JSONWriter.bytes(of: page).count <= ReplyBound.maximumBytes)
      pages.append(page[members]?.arrayValue ?? [])
      guard let next = page["next"] else { break }
      params["after"] = next
    }
    return pages
  }

  @Test func `Keys come in pages, by count and by size, each key once`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let keys = Set((0..<300).map { "\($0)-" + String(repeating: "\u{1F600}", count: 120) })
      for key in keys { try await desk.store(1, for: key, epoch: nil) }
      let bySize = try await pages(world, "storage.list", ["instance": "desk"], "keys")
      #expect(bySize.count > 2)
      let byCount = try await pages(world, "storage.list", ["instance": "desk", "limit": 70], "keys")
      #expect(byCount.map(\.count) == [70, 70, 70, 70, 20])
      for pages in [bySize, byCount] {
        let found = pages.joined().compactMap { $0["key"]?.stringValue }
        #expect(found.count == keys.count)
        #expect(Set(found) == keys)
      }
      let session = world.session()
      for limit in [0, 1001] as [JSON] {
        #expect(
          await world.call("storage.list", ["instance": "desk", "limit": limit], on: session).reason == "invalidParams")
      }
    }
  }

  @Test func `Push registrations come in pages, oldest first`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      for number in 0..<7 {
        _ = try await desk.registerPush(
          service: nil, PushEndpoint(address: Secret("device-\(number)"), type: .other, locale: nil))
        world.clock.advance(1)
      }
      let pages = try await pages(world, "push.list", ["instance": "desk", "limit": 3], "pushes")
      #expect(pages.map(\.count) == [3, 3, 1])
      let all = try await desk.pushRecords().map(\.id)
      #expect(pages.joined().compactMap { $0["id"]?.stringValue } == all)
      let unknown = await world.call("push.list", ["instance": "desk", "after": "x"], on: world.session()).error
      #expect(unknown?.data["member"] == "after")
    }
  }

  @Test func `A reply over the bound is replyTooLarge, and a list continues behind the instance`() async throws {
    try await World.run { world in
      for name in ["a", "c"] { _ = try await world.instance(name) }
      // Only former versions accepted labels of this size.
      let labels = Dictionary(uniqueKeysWithValues: (0..<64).map { ("\($0)", String(repeating: "x", count: 1000)) })
      let large = try await world.instance("b", labels: labels)
      let session = world.session()
      let error = await world.call("instance.get", ["instance": "b"], on: session).error
      #expect(error?.reason == "replyTooLarge")
      #expect(error?.isRetryable == false)
      let listed = try await pages(world, "instance.list", [:], "instances")
      #expect(listed.joined().compactMap { $0["instance"]?.stringValue } == ["a", "b", "c"])
      #expect(listed.joined().first { $0["instance"] == "b" }?["labels"] == [:])
      // The instance can still be updated, which makes it smaller.
      let patch = JSON.object(JSONObject(labels.keys.map { ($0, .null) }))
      #expect(await world.call("instance.update", ["instance": "b", "labels": patch], on: session).value != nil)
      #expect(large.currentDefinition.labels.isEmpty)
    }
  }

  @Test("Only an element that is too large for a page of its own is shortened", arguments: [-1, 0, 1], [true, false])
  func exactSize(excess: Int, isFirst: Bool) throws {
    var page = ReplyPage<String>(limit: 10)
    let former = isFirst ? [] : ["a"]
    for text in former { _ = page.add(text) }
    // With its quotes the text has as many bytes as a page, or one more or less.
    let text = String(repeating: "x", count: ReplyBound.pageBytes - 2 + excess)
    let isAdded = page.add(text) { _ in "short" }
    let expected = excess > 0 ? former + ["short"] : isFirst ? [text] : former
    #expect(page.elements == expected)
    #expect(isAdded == (expected != former))
    #expect(try JSONParser.parse(page.text) == .array(expected.map(JSON.string)))
  }

  @Test func `Admins see a quarantined instance in the list, and every other call on it says so`() async throws {
    let store = InMemoryStateStore()
    try await World.run(store: store) { world in
      let access = AccessRules(control: [try #require(AccessRule("uid:7"))])
      for name in ["a", "b", "c"] { _ = try await world.instance(name, access: access) }
      let broken = try #require(world.hosted("b")?.uuid)
      store.quarantine(broken, problem: "Its rows do not open.")
    }
    try await World.run(store: store) { world in
      let listed = try await pages(world, "instance.list", ["limit": 1], "instances").joined()
      #expect(listed.compactMap { $0["instance"]?.stringValue } == ["a", "b", "c"])
      let shown = try #require(listed.first { $0["instance"] == "b" })
      #expect(shown["state"] == "quarantined")
      #expect(shown["lastError"]?["reason"] == "instanceQuarantined")
      #expect(Instance.jsonSchema.violation(in: shown) == nil)
      let states = try await pages(world, "instance.list", ["state": "quarantined"], "instances").joined()
      #expect(states.compactMap { $0["instance"]?.stringValue } == ["b"])
      #expect(try await pages(world, "instance.list", ["labels": ["a": "b"]], "instances").joined().isEmpty)
      let own = try await pages(world, "instance.list", [:], "instances", uid: 7).joined()
      #expect(own.compactMap { $0["instance"]?.stringValue } == ["a", "c"])
      for (method, more) in [
        ("instance.get", [:]), ("instance.update", ["labels": [:]]), ("token.get", [:]), ("session.open", [:]),
        ("storage.list", [:]), ("push.list", [:]), ("fake.login", ["token": "x"]), ("instance.currentUser", [:]),
      ] as [(String, JSONObject)] {
        let params = JSON.object((["instance": "b"] as JSONObject).merged(with: more))
        #expect(await world.call(method, params, on: world.session()).reason == "instanceQuarantined", "\(method)")
        #expect(await world.call(method, params, on: world.session(uid: 7)).reason == "instanceNotFound", "\(method)")
      }
      #expect(await world.call("instance.delete", ["instance": "b"], on: world.session()).value == [:])
      #expect(try await pages(world, "instance.list", [:], "instances").joined().count == 2)
    }
  }

  @Test func `An instance is found by its UUID until it is deleted`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      #expect(world.registry.instance(uuid: desk.uuid.description)?.actor === desk.actor)
      try await world.host.delete(desk)
      #expect(world.registry.instance(uuid: desk.uuid.description) == nil)
    }
  }
}
