import SDKProtocol
import Testing

@testable import JSONRPC
@testable import SDKInstances

struct CallObserverTests {
  @Test func `An immediate answer is observed with its credential`() async throws {
    try await World.run { world in
      try await world.instance().signIn("alice#1")
      _ = await world.call("token.get", ["instance": "desk"], on: world.session())
      let calls = world.calls.take()
      #expect(calls.map(\.words) == ["token.get desk 0 ok"])
      #expect(calls.first?.isImmediate == true)
      #expect(calls.first?.issued?.tokenId == TokenID(Secret("alice#1")))
      #expect(calls.first?.issued?.service == nil)
    }
  }

  @Test func `A call that runs is observed when it ends, with its duration`() async throws {
    try await World.run { world in
      try await world.instance().signIn("alice#1")
      guard case .run(let call) = world.accept("session.open", ["instance": "desk"], on: world.session()) else {
        Issue.record("answered at once")
        return
      }
      #expect(world.calls.take().isEmpty)
      world.clock.advance(3)
      _ = await call.run()
      let observed = world.calls.take()
      #expect(observed.map(\.words) == ["session.open desk 0 ok"])
      #expect(observed.first?.isImmediate == false)
      #expect(observed.first.map { $0.duration >= .seconds(3) } == true)
      #expect(observed.first?.issued?.tokenId == TokenID(Secret("alice#1")))
    }
  }

  @Test func `Every refusal is observed once, wherever it is found`() async throws {
    try await World.run { world in
      _ = try await world.instance()
      let stranger = world.session(uid: 7)
      _ = await world.call("token.get", ["instance": "desk"], on: stranger)
      _ = await world.call("token.get", ["instance": "desk", "tokem": 1], on: stranger)
      _ = await world.call("token.gett", ["instance": "desk"], on: stranger)
      let limit = RPCError(code: -32050, reason: "tooManyInFlight", message: "")
      world.gateway.refused(
        RPCRequest(id: .null, method: "fake.login", params: ["instance": "desk"]), limit, by: stranger)
      world.gateway.refused(stranger.link.peer, limit)
      if case .run(let call) = world.accept("fake.logout", ["instance": "desk"], on: stranger) { call.abandon() }
      #expect(
        world.calls.take().map(\.words) == [
          "token.get desk 7 instanceNotFound", "token.get desk 7 invalidParams", "- desk 7 methodNotFound",
          "fake.login desk 7 tooManyInFlight", "- - 7 tooManyInFlight", "fake.logout desk 7 cancelled",
        ])
    }
  }

  @Test func `Both observers of a method get its calls`() async throws {
    let (first, second) = (ObservedCalls(), ObservedCalls())
    let observers: [any CallObserver] = [first, second]
    let call = EndedCall(
      method: TokenGet.self, instance: nil, peer: Peer(pid: 1, uid: 2, gid: 3), failure: nil, issued: nil,
      duration: .zero, isImmediate: true)
    observers.observation(of: TokenGet.self)?(call)
    #expect(first.take().count == 1)
    #expect(second.take().count == 1)
    #expect([any CallObserver]().observation(of: nil) == nil)
  }

  @Test func `Every method whose result holds a token tells of it`() {
    var found: [String] = []
    for method in CommonMethods.all where Self.resultHoldsToken(method) {
      let isTold = Self.bearsCredential(method)
      #expect(isTold, "\(method.name)")
      found.append(method.name)
    }
    #expect(found.sorted() == ["session.open", "token.get", "token.refresh"])
  }

  private static func bearsCredential<M: SDKMethod>(_ method: M.Type) -> Bool {
    M.Result.self is any CredentialBearing.Type
  }

  private static func resultHoldsToken<M: SDKMethod>(_ method: M.Type) -> Bool {
    M.Result.jsonSchema.namedSchemas["Token"] != nil
  }
}
