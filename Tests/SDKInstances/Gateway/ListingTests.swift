import JSONRPC
import SDKProtocol
import Synchronization
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

  @Test("The kept numbers and health are what a look at each instance finds, whatever has happened to it")
  func kept() async throws {
    try await World.run { world in
      let (admin, user) = (world.session(uid: 0), world.session(uid: 7))
      let access = AccessRules(observe: [try #require(AccessRule("uid:7"))])
      /// Compares the answers to the admin, which are kept, with those to a user, for whom each instance is looked at.
      func compare(_ expected: JSON, waiting: [String] = []) async throws {
        for params in [["counts": true], ["counts": true, "kind": "fake.chat"]] as [JSON] {
          #expect(await world.call("instance.list", params, on: admin).value?["counts"] == expected)
          #expect(await world.call("instance.list", params, on: user).value?["counts"] == expected)
        }
        for session in [admin, user] {
          let checks = await world.call("daemon.health", on: session).value?["checks"]?.arrayValue
          let detail = checks?.first { $0["name"] == "instances" }?["detail"]?.stringValue
          let words = waiting.isEmpty ? nil : "need a new credential: \(waiting.joined(separator: ", "))"
          #expect(detail == words)
        }
      }
      try await compare([:])
      for name in ["b", "a", "c"] { _ = try await world.instance(name, provider: false, access: access) }
      try await compare(["noUser": 3])
      for name in ["a", "b"] { try await #require(world.hosted(name)).signIn("\(name)#1@60") }
      try await compare(["noUser": 1, "authenticated": 2])
      world.clock.advance(61)
      world.deadlines.wake()
      try await eventually("new logins are needed") {
        ["a", "b"].allSatisfy { world.hosted($0)?.state == .reauthNeeded }
      }
      try await compare(["noUser": 1, "reauthNeeded": 2], waiting: ["a", "b"])
      try await #require(world.hosted("b")).signIn("b#2")
      try await compare(["noUser": 1, "authenticated": 1, "reauthNeeded": 1], waiting: ["a"])
      for name in ["a", "c"] {
        #expect(await world.call("instance.delete", ["instance": .string(name)], on: admin).value == [:])
      }
      try await compare(["authenticated": 1])
    }
  }

  @Test("Health and the numbers of all instances take no look at each")
  func looks() async throws {
    for count in [10, 100] {
      try await World.run { world in
        for number in 0..<count { _ = try await world.instance("i\(number)") }
        let before = world.registry.looks.load(ordering: .relaxed)
        for uid in [0, 7] as [UInt32] {
          #expect(await world.call("daemon.health", on: world.session(uid: uid)).value != nil)
        }
        #expect(await world.call("instance.list", ["counts": true], on: world.session()).value != nil)
        #expect(world.registry.looks.load(ordering: .relaxed) == before)
      }
    }
  }
}
