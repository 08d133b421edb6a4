import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Calls whose caller loses the role while they wait.
struct LostRoleTests {
  /// The service that a call waits for.
  enum Wait: String, Sendable {
    case bridge, vendor, store
  }

  private static let cases: [(String, JSONObject, Wait)] = [
    ("token.get", ["minTTL": 3600], .bridge), ("token.get", ["minTTL": 3600, "http": true], .bridge),
    ("token.refresh", [:], .bridge), ("session.open", ["minTTL": 3600], .bridge),
    ("token.get", ["minTTL": 3600], .vendor), ("token.refresh", [:], .vendor),
    ("session.open", ["minTTL": 3600], .vendor), ("storage.get", ["key": "k"], .store), ("storage.list", [:], .store),
  ]

  @Test(arguments: Self.cases)
  func `A read whose caller has lost the role gives nothing`(
    method: String, members: JSONObject, wait: Wait
  ) async throws {
    for (present, expected) in [
      ("uid:7", nil), ("uid:8", "instanceNotFound"),
    ] as [(String, String?)] {
      let reads = HeldReads.Gates()
      try await World.run(reads: reads) { world in
        let rules = [try #require(AccessRule("uid:7"))]
        let desk = try await world.instance(access: AccessRules(control: rules))
        try await desk.signIn("alice#1@600")
        try await desk.store("value", for: "k", epoch: nil)
        let gate: Gate
        switch wait {
        case .bridge: gate = world.bridge.hold(then: "alice#2@7200")
        case .vendor:
          world.bridge.answer("alice#2@7200")
          gate = world.vendor.hold(.verify)
        case .store: gate = reads.gate
        }
        defer { gate.open() }
        let session = world.session(uid: 7)
        let params = (["instance": "desk"] as JSONObject).merged(with: members)
        let call = world.accept(method, .object(params), on: session)
        async let answer = World.finish(call)
        try await eventually("the call waits") {
          switch wait {
          case .bridge: !world.bridge.questions.isEmpty
          case .vendor: world.vendor.count(.verify) > 0
          case .store: reads.asked.count > 0
          }
        }
        let update: JSON = ["instance": "desk", "access": ["control": [.string(present)]]]
        _ = try await world.call("instance.update", update, on: world.session()).get()
        gate.open()
        let outcome = await answer
        #expect(outcome.reason == expected, "\(method) \(present)")
        let ended = world.calls.take().last { $0.method?.name == method }
        #expect(ended?.failure?.reason == expected)
        if expected != nil { #expect(ended?.issued == nil) }
      }
    }
  }

  @Test func `A list of events leaves out those of an instance on which the caller has lost the role`() async throws {
    let gate = Gate()
    try await World.run(patience: .seconds(60), wipeGate: gate) { world in
      defer { gate.open() }
      let access = AccessRules(observe: [try #require(AccessRule("uid:7"))])
      _ = try await world.instance("one", access: access)
      let two = try await world.instance("two", access: access)
      try await two.signIn("alice#1")
      // Its event is in the store and not delivered yet, which the list waits for.
      async let out = two.signOut(localOnly: true) {}
      try await eventually("it is stored") { (try? await world.count(.userLoggedOut)) == 1 }
      let session = world.session(uid: 7)
      async let listed = world.call("events.list", on: session)
      try await eventually("the list waits") { await world.hub.readers.count == 1 }
      let update: JSON = ["instance": "one", "access": ["observe": nil]]
      _ = try await world.call("instance.update", update, on: world.session()).get()
      gate.open()
      let events = try await listed.get()["events"]?.arrayValue ?? []
      #expect(Set(events.compactMap { $0["instance"]?.stringValue }) == ["two"])
      #expect(events.contains { $0["type"] == "userLoggedOut" })
      _ = try await out
    }
  }
}
