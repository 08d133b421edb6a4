import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances

/// The pages and the numbers of `instance.list`.
struct ListingTests {
  /// Returns the names of all pages.
  private func pages(_ params: JSONObject, on session: ClientSession, of world: World) async throws -> [[String]] {
    var (pages, params) = ([[String]](), params)
    while true {
      let page = try #require(await world.call("instance.list", .object(params), on: session).value)
      pages.append(page["instances"]?.arrayValue?.compactMap { $0["instance"]?.stringValue } ?? [])
      guard let next = page["next"] else { return pages }
      params["after"] = next
    }
  }

  @Test func `Pages have all instances by id, and the numbers count them`() async throws {
    try await World.run { world in
      // More than the registry gives at a time, created in an order that is none.
      let names = (0..<600).map { "i\($0 * 7919 % 600)" }
      let access = AccessRules(observe: [try #require(AccessRule("uid:7"))])
      for (number, name) in names.enumerated() {
        _ = try await world.instance(name, access: number.isMultiple(of: 100) ? access : AccessRules())
      }
      let admin = world.session(uid: 0)
      let all = try await pages(["limit": 100], on: admin, of: world)
      #expect(all.flatMap { $0 } == names.sorted())
      #expect(all.dropLast().allSatisfy { $0.count == 100 })
      let user = world.session(uid: 7)
      let seen = names.enumerated().filter { $0.offset.isMultiple(of: 100) }.map(\.element).sorted()
      #expect(try await pages(["limit": 4], on: user, of: world) == [Array(seen[..<4]), Array(seen[4...])])

      let deleted = try #require(names.first)
      #expect(await world.call("instance.delete", ["instance": .string(deleted)], on: admin).value == [:])
      #expect(try await pages([:], on: user, of: world) == [seen.filter { $0 != deleted }])

      func counts(_ params: JSONObject, on session: ClientSession) async -> JSON? {
        await world.call("instance.list", .object(params.merged(with: ["counts": true])), on: session).value
      }
      _ = try await #require(world.hosted(names[1])).signIn("alice#1")
      #expect(
        await counts([:], on: admin) == ["instances": [], "counts": ["noUser": 598, "authenticated": 1]])
      #expect(await counts(["state": "authenticated"], on: admin)?["counts"] == ["authenticated": 1])
      #expect(await counts([:], on: user)?["counts"] == ["noUser": 5])
      #expect(await counts([:], on: world.session(uid: 8))?["counts"] == [:])
    }
  }
}
