import Doubles
import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances

@Suite("Answers on the event loop")
struct ShortcutTests {
  /// A read whose own code refuses nothing.
  private enum Careless: ImmediateRead {
    static let name = "fake.careless"
    static let summary = ""
    static let documentation = ""
    static let access = MethodAccess.role(.control)
    static let ordering = MethodOrdering.read
    static let concern = MethodConcern.user
    static let kind: KindName? = KindName("fake.other")
    static let example = MethodExample(result: [:])
    typealias Params = TokenGet.Params
    typealias Result = Token
    static func answer(_ params: Params, by instance: HostedInstance) -> ShortAnswer? {
      ShortAnswer(text: Array("1".utf8), instance: params.instance)
    }
  }

  /// A method like `Careless` that is no read.
  private enum Write: ImmediateRead {
    static let name = "fake.write"
    static let summary = ""
    static let documentation = ""
    static let access = MethodAccess.role(.control)
    static let ordering = MethodOrdering.write(waits: true)
    static let example = MethodExample(result: [:])
    typealias Params = TokenGet.Params
    typealias Result = Token
    static func answer(_ params: Params, by instance: HostedInstance) -> ShortAnswer? {
      Careless.answer(params, by: instance)
    }
  }

  /// The reads that are answered at once: those of the daemon, and one whose own code refuses nothing.
  enum Read: String, CaseIterable {
    case token = "token.get"
    case careless = "fake.careless"

    func shortcut(_ registry: InstanceRegistry) -> Shortcut? {
      switch self {
      case .token: Shortcut(TokenGet.self, on: registry)
      case .careless: Shortcut(Careless.self, on: registry)
      }
    }

    /// The uid that has no more than the needed role, and the one that has the next lower role.
    var uids: (needed: UInt32, lower: UInt32) { self == .token ? (6, 4) : (5, 6) }
    /// The kind of the instances that the method is for, and another one; `nil` if it is for all kinds.
    var kinds: (own: String, other: String)? { self == .token ? nil : ("fake.other", "fake.chat") }
  }

  /// The checks of the gateway. Each has a call that fails it, and so must not be answered at once.
  enum Obstacle: CaseIterable {
    case missingInstance, missingRole, lowerRole, wrongKind, pendingWrite, notStarted, failingStore, unknownProcess
    // Params that only decoding accepts, or refuses.
    case rareParams, unknownParam, noParams, listedParams
  }

  /// Runs a test with a signed-in instance, on which uid 4 has the role observe, 6 use and 5 control.
  private func run(
    _ kind: String?, isReady: Bool = true, _ test: (World, HostedInstance) async throws -> Void
  ) async throws {
    func rules(_ text: String) throws -> [AccessRule] { [try #require(AccessRule(text))] }
    try await World.run(isReady: isReady) { world in
      let access = AccessRules(observe: try rules("uid:4"), use: try rules("uid:6"), control: try rules("uid:5"))
      let desk = try await world.instance(access: access, kind: kind ?? "fake.chat")
      try await desk.signIn("alice#1")
      try await test(world, desk)
    }
  }

  @Test("A read with an answer in memory is answered at once, for the needed role", arguments: Read.allCases)
  func answers(read: Read) async throws {
    try await run(read.kinds?.own) { world, desk in
      let shortcut = try #require(read.shortcut(world.registry))
      let session = world.session(uid: read.uids.needed)
      // Neither a registration, an ended write nor one of another connection delays it.
      session.begin(PendingWrite(.push), on: desk.id)
      let ended = PendingWrite(.user)
      session.begin(ended, on: desk.id)
      session.settle(ended, on: desk.id)
      world.session(uid: read.uids.needed).begin(PendingWrite(.user), on: desk.id)
      #expect(shortcut.answer(["instance": "desk"], session) != nil)
      #expect(shortcut.answer(["instance": "desk"], world.session()) != nil, "an admin")
    }
  }

  @Test("A read takes the general path when one condition is missing", arguments: Read.allCases, Obstacle.allCases)
  func obstacles(read: Read, obstacle: Obstacle) async throws {
    guard obstacle != .wrongKind || read.kinds != nil else { return }
    let kind = obstacle == .wrongKind ? read.kinds?.other : read.kinds?.own
    try await run(kind, isReady: obstacle != .notStarted) { world, desk in
      let shortcut = try #require(read.shortcut(world.registry))
      var (params, session): (JSON?, ClientSession) = (["instance": "desk"], world.session(uid: read.uids.needed))
      switch obstacle {
      case .missingInstance: params = ["instance": "none"]
      case .missingRole: session = world.session(uid: 7)
      case .lowerRole: session = world.session(uid: read.uids.lower)
      case .wrongKind: break
      case .pendingWrite: session.begin(PendingWrite(.user), on: desk.id)
      case .notStarted: break
      case .failingStore: world.registry.availability.fail(SDKError(.store, .storeUnavailable, "x"))
      case .unknownProcess:
        let peer = Peer(pid: 1, uid: read.uids.needed, gid: 1, groups: []) { PeerProcess() }
        session = ClientSession(link: FakeLink(peer: peer))
      case .rareParams: params = ["instance": "desk", "minTTL": "30s"]
      case .unknownParam: params = ["instance": "desk", "x": 1]
      case .noParams: params = nil
      case .listedParams: params = []
      }
      #expect(shortcut.answer(params, session) == nil)
    }
  }

  @Test("The table above has all reads that the daemon answers at once")
  func isComplete() async throws {
    try await World.run { world in
      let names = Set(world.shortcuts.map(\.name)).subtracting([RPCDiscover.name])
      #expect(names == Set(Read.allCases.map(\.rawValue)).subtracting([Careless.name]))
    }
  }

  @Test("Only a read that takes a role, and a method without state for everyone, have a shortcut")
  func methods() async throws {
    try await World.run { world in
      #expect(Shortcut(Write.self, on: world.registry) == nil)
      #expect(Shortcut(TokenGet.self, on: world.registry) != nil)
      #expect(Shortcut(RPCDiscover.self) { [] } != nil)
      #expect(Shortcut(DaemonReload.self) { [] } == nil)
      #expect(Shortcut(DaemonRotateKey.self) { [] } == nil)
    }
  }

  @Test("The token of a service is answered at once: of the named one, or of the only one that is set up")
  func services() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["services": ["cases", "chat"], "anonymous": false])
      func signIn(_ token: String, on service: String) async throws {
        _ = try await desk.signIn(service: service, accepted: {}) { (adapter: FakeAdapter, _, _) in
          try adapter.check(Secret(token), now: desk.wallClock.now())
        }
      }
      func get(_ service: JSON? = nil, from instance: JSON = "desk") async -> String {
        var params: JSONObject = ["instance": instance]
        params["service"] = service
        let call = world.accept("token.get", .object(params), on: world.session())
        let result = await World.finish(call)
        let outcome = result.value?["token"]?.stringValue ?? result.reason ?? "nothing"
        return "\(outcome) \(call.isImmediate ? "at once" : "later")"
      }
      try await signIn("alice#1", on: "cases")
      #expect(await get() == "alice#1 at once")
      #expect(await get("cases") == "alice#1 at once")
      #expect(await get("chat") == "notAuthenticated later")
      try await signIn("bob#1", on: "chat")
      #expect(await get("chat") == "bob#1 at once")
      #expect(await get() == "invalidParams later")
      #expect(await get("case") == "invalidParams later")
      _ = try await desk.signOut(service: "cases", localOnly: true, accepted: {})
      #expect(await get("cases") == "notAuthenticated later")
      _ = try await world.instance("plain").signIn("carol#1")
      #expect(await get("chat", from: "plain") == "invalidParams later")
    }
  }
}
