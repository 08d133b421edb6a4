import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Calls whose caller loses the role while they wait.
struct LostRoleTests {
  /// What a call waits for.
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
}
