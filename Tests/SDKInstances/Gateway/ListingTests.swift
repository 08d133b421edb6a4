import Doubles
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
      try await eventually("new logins are needed", waking: world.deadlines) {
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

  @Test("Health and the numbers of all instances take no look at each, and a user's calls look at the user's own")
  func looks() async throws {
    for count in [300, 3000] {
      let rule = AccessPolicy.CreateRule(who: try #require(AccessRule("uid:7")), prefix: "", max: 5)
      let policy = AccessPolicy(create: [rule], names: AccessPolicyTests.Names())
      try await World.run(access: policy) { world in
        let observed = AccessRules(observe: [try #require(AccessRule("uid:7"))])
        for number in 0..<count {
          _ = try await world.instance(
            "i\(number)", owner: number < 2 ? 7 : 8, access: number == 2 ? observed : AccessRules())
        }
        func looks(_ method: String, _ params: JSON? = nil, uid: UInt32) async -> Int {
          let before = world.registry.looks.load(ordering: .relaxed)
          #expect(await world.call(method, params, on: world.session(uid: uid)).value != nil, "\(method)")
          return world.registry.looks.load(ordering: .relaxed) - before
        }
        #expect(await looks("daemon.health", uid: 0) == 0)
        #expect(await looks("daemon.health", uid: 7) == 0)
        #expect(await looks("instance.list", ["counts": true], uid: 0) == 0)
        #expect(await looks("instance.list", ["counts": true], uid: 7) == 3)
        #expect(await looks("instance.list", uid: 7) == 3)
        #expect(await looks("events.list", uid: 7) == 3)
        #expect(await looks("events.subscribe", uid: 7) <= 3)
        #expect(await looks("events.subscribe", uid: 0) == 0)
        let create: JSON = ["instance": "new", "kind": "fake.chat", "settings": ["base_url": "https://a.example"]]
        // Before the call takes its turn, and when it has it.
        #expect(await looks("instance.create", create, uid: 7) <= 2 * 4)
        let before = world.registry.looks.load(ordering: .relaxed)
        #expect(world.registry.knownPeers.relation(to: Peer(pid: 1, uid: 7, gid: 9)) == .known)
        #expect(world.registry.looks.load(ordering: .relaxed) == before)
      }
    }
  }

  @Test("A list has each instance on which the caller has a role, whatever has happened to the rules")
  func own() async throws {
    try await World.run { world in
      let rules = [
        "uid:7", "uid:8", "group:support", "unit:a.service", "*", "uid:7+group:support", "uid:7+unit:a.service",
      ]
      let sessions = [
        world.session(uid: 7), world.session(uid: 8), world.session(uid: 9), world.session(uid: 50),
        world.session(uid: 7, unit: "a.service"), world.session(uid: 9, unit: "a.service"),
      ]
      func compare() async throws {
        for session in sessions {
          let roles = world.registry.unsortedInstances.filter {
            world.registry.role(of: session.link.peer, on: $0) != nil
          }
          #expect(try await pages([:], on: session, of: world).flatMap { $0 } == roles.map(\.id.name).sorted())
        }
      }
      // Few of all, so that the lists are made from the index.
      for number in 0..<2500 { _ = try await world.instance("other\(number)", owner: 99) }
      for (number, rule) in rules.enumerated() {
        _ = try await world.instance(
          "i\(number)", owner: 7 + UInt32(number % 3), access: AccessRules(observe: [try #require(AccessRule(rule))]))
      }
      try await compare()
      for number in rules.indices {
        let next = rules[(number + 3) % rules.count]
        let update: JSON = ["instance": .string("i\(number)"), "access": ["observe": [.string(next)]]]
        #expect(await world.call("instance.update", update, on: world.session()).value != nil)
        try await compare()
      }
      // The change is in force, although its cleanup is not done.
      world.store.failNextCommits(1, afterWriting: true)
      let update: JSON = ["instance": "i0", "access": ["observe": ["uid:60"]]]
      #expect(await world.call("instance.update", update, on: world.session()).value == nil)
      #expect(try await pages([:], on: world.session(uid: 60), of: world).flatMap { $0 }.contains("i0"))
      for number in rules.indices {
        let params: JSON = ["instance": .string("i\(number)")]
        #expect(await world.call("instance.delete", params, on: world.session()).value == [:])
        try await compare()
      }
    }
  }
}
