import JSONRPC
import Logging
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import StateStore

struct AuditTrailTests {
  private let written = Records<AuditRecord>()
  private var trail: AuditTrail { AuditTrail(registry: .empty) { [written] in written.add($0) } }

  private func call(
    _ method: (any SDKMethod.Type)?, uid: UInt32 = 7, pid: Int32 = 1, process: PeerProcess = PeerProcess(),
    failure: RPCError? = nil, tokenId: TokenID? = nil
  ) -> EndedCall {
    call(method, Peer(pid: pid, uid: uid, gid: 1, process: process), failure: failure, tokenId: tokenId)
  }

  private func call(
    _ method: (any SDKMethod.Type)?, _ peer: Peer, failure: RPCError? = nil, tokenId: TokenID? = nil,
    isImmediate: Bool = true
  ) -> EndedCall {
    EndedCall(
      method: method, instance: InstanceID("desk"), peer: peer, failure: failure,
      issued: tokenId.map { EndedCall.IssuedCredential(tokenId: $0, service: nil) }, duration: .zero,
      isImmediate: isImmediate)
  }

  private func words() -> [String] {
    written.all.map { "\($0.kind.rawValue) \($0.fields[.method] ?? "-") \($0.fields[.outcome] ?? "-")" }
  }

  @Test func `What changes something is written each time, whatever came of it`() {
    let trail = trail
    for method in [InstanceCreate.self, InstanceUpdate.self, DelegateAttach.self] as [any SDKMethod.Type] {
      let observe = trail.observation(of: method)
      observe?(call(method))
      observe?(call(method, failure: SDKError(.state, .superseded, "x").rpcError))
      observe?(call(method, failure: .cancelled))
      observe?(call(method, failure: .invalidParams("x")))
    }
    let names = ["instance.create", "instance.update", "delegate.attach"]
    #expect(words() == names.flatMap { ["call \($0) ok", "call \($0) superseded"] })
  }

  @Test func `A record costs no more after years than on the first day`() async throws {
    try await World.run { world in
      let trail = AuditTrail(registry: world.registry) { _ in }
      let observe = trail.observation(of: InstanceUpdate.self)
      func batch() -> Duration {
        ContinuousClock().measure { for _ in 0..<100 { observe?(call(InstanceUpdate.self)) } }
      }
      // The minimum of 20 batches, since other load on the machine slows some of them.
      func shortest() -> Duration { (0..<20).map { _ in batch() }.min() ?? .zero }
      let first = shortest()
      for _ in 0..<200 { _ = batch() }
      #expect(shortest() < first * 10)
    }
  }

  @Test func `Processes of a user with the same unit and program count together`() {
    let trail = trail
    let token = TokenID(Secret("1"))
    let shell = PeerProcess(unit: "session-1.scope", executable: "/usr/bin/sdkctl")
    for pid in 1...200 as ClosedRange<Int32> {
      trail.observation(of: TokenGet.self)?(call(TokenGet.self, pid: pid, process: shell, tokenId: token))
    }
    #expect(written.count == 1)
    for (uid, process) in [
      (8, shell), (7, PeerProcess(unit: "session-2.scope", executable: "/usr/bin/sdkctl")),
      (7, PeerProcess(unit: "session-1.scope", executable: "/usr/bin/python3")),
    ] as [(UInt32, PeerProcess)] {
      trail.observation(of: TokenGet.self)?(call(TokenGet.self, uid: uid, process: process, tokenId: token))
    }
    #expect(written.count == 4)
    trail.flush()
    #expect(written.all.last?.fields[.count] == "199")
  }

  @Test func `Refusals count by system unit, which a caller can't choose, and not by program`() {
    let trail = trail
    let denied = SDKError.accessDenied("no").rpcError
    for (unit, program) in [
      ("session-1.scope", "sh"), ("session-1.scope", "made-up"), ("other.service", "sh"), ("other.service", "sh"),
    ] {
      let process = PeerProcess(unit: unit, executable: "/usr/bin/\(program)")
      trail.observation(of: TokenGet.self)?(call(TokenGet.self, process: process, failure: denied))
    }
    #expect(written.all.map { $0.fields[.peerUnit] } == ["session-1.scope", "other.service"])
    #expect(written.all.last?.message.contains("(other.service, pid ") == true)
  }

  @Test func `A process is looked at without a lock that other calls need, and not on an event loop`() {
    let trail = trail
    let looks = Records<Int>()
    let token = TokenID(Secret("1"))
    let inner = call(TokenGet.self, uid: 8, tokenId: token)
    let peer = Peer(
      pid: 1, uid: 7, gid: 1, groups: [],
      look: {
        // Another call is observed meanwhile. If the audit held a lock here, this would deadlock.
        trail.observation(of: TokenGet.self)?(inner)
        looks.add(1)
        return PeerProcess(unit: "kiosk.service")
      })
    trail.observation(of: TokenGet.self)?(call(TokenGet.self, peer, tokenId: token))
    #expect(looks.count == 0)
    #expect(written.all.last?.fields[.peerUnit] == nil)
    trail.observation(of: TokenGet.self)?(call(TokenGet.self, peer, tokenId: token, isImmediate: false))
    #expect(looks.count > 0)
    #expect(written.all.last?.fields[.peerUnit] == "kiosk.service")
    #expect(written.all.map { $0.fields[.peerUID] }.contains("8"))
  }

  @Test func `The first call of a connection is not answered on the event loop, so that its process is known`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let peer = Peer(pid: 1, uid: 0, gid: 0, groups: []) { PeerProcess() }
      let session = ClientSession(link: FakeLink(peer: peer))
      let first = world.accept("token.get", ["instance": "desk"], on: session)
      #expect(!first.isImmediate)
      #expect(await World.finish(first).value != nil)
      #expect(peer.process == PeerProcess())
      #expect(world.accept("token.get", ["instance": "desk"], on: session).isImmediate)
    }
  }

  @Test func `A credential is written once for a program, by whichever method`() {
    let trail = trail
    let (one, two) = (TokenID(Secret("1")), TokenID(Secret("2")))
    for method in [TokenGet.self, SessionOpen.self] as [any SDKMethod.Type] {
      for _ in 0..<5 { trail.observation(of: method)?(call(method, tokenId: one)) }
    }
    trail.observation(of: TokenGet.self)?(call(TokenGet.self, tokenId: two))
    trail.observation(of: TokenGet.self)?(call(TokenGet.self, uid: 9, tokenId: one))
    #expect(words() == Array(repeating: "credential token.get ok", count: 3))
    trail.flush()
    #expect(written.all.count == 4)
    #expect(written.all.last?.fields[.count] == "9")
    #expect(written.all.last?.fields[.tokenId] == one.description)
  }

  @Test func `Refusals are written whatever the method, other failures of reads are not`() {
    let trail = trail
    let denied = SDKError.accessDenied("no").rpcError
    for _ in 0..<3 { trail.observation(of: TokenGet.self)?(call(TokenGet.self, failure: denied)) }
    trail.observation(of: StorageGet.self)?(call(StorageGet.self, failure: denied))
    trail.observation(of: TokenGet.self)?(
      call(TokenGet.self, failure: SDKError(.state, .notAuthenticated, "x").rpcError))
    trail.observation(of: nil)?(call(nil, failure: SDKError(.limit, .rateLimit, "x").rpcError))
    trail.observation(of: nil)?(call(nil, failure: .methodNotFound("x", nearest: nil)))
    #expect(
      words() == ["refusal token.get accessDenied", "refusal storage.get accessDenied", "refusal - rateLimit"])
  }

  @Test func `An event tells of the user by id alone`() throws {
    let event = StoredEvent(
      position: 1, uuid: InstanceUUID("u"), id: try #require(InstanceID("desk")), kind: KindName("k"), time: .now,
      type: .userLoggedOut, data: ["cause": "implicit", "user": ["externalId": "alice", "email": "a@b.example"]])
    trail.record(event)
    let record = try #require(written.all.first)
    #expect(record.kind == .identity)
    #expect(record.fields[.user] == "alice")
    #expect(record.fields[.cause] == "implicit")
    #expect(!"\(record)".contains("b.example"))
    var other = event
    (other.type, other.data) = (.instanceUpdated, ["changed": ["settings", "access"]])
    trail.record(other)
    #expect(written.all.last?.message == "desk: instanceUpdated (settings,access).")
    #expect(written.all.last?.fields[.changed] == "settings,access")
    other.type = .tokenRefreshed
    trail.record(other)
    #expect(written.count == 2)
  }

  @Test func `Every method that changes an identity, a definition or who answers is of those always written`() {
    let each = CommonMethods.all.filter { AuditRule($0) == .each }.map { $0.name }.sorted()
    #expect(
      each == [
        "daemon.reload", "daemon.rotateKey", "daemon.setLogLevel", "delegate.attach", "delegate.detach",
        "instance.create", "instance.delete",
        "instance.update",
      ])
  }
}

extension InstanceRegistry {
  /// A registry without kinds and instances.
  fileprivate static var empty: InstanceRegistry {
    InstanceRegistry(
      kinds: [], access: AccessPolicy(names: AccessPolicyTests.Names()),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }
}
