import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct AuditTrailTests {
  private let written = Records<AuditRecord>()
  private var trail: AuditTrail { AuditTrail { [written] in written.add($0) } }

  private func call(
    _ method: (any SDKMethod.Type)?, uid: UInt32 = 7, pid: Int32 = 1, failure: RPCError? = nil, tokenId: TokenID? = nil
  ) -> EndedCall {
    EndedCall(
      method: method, instance: InstanceID("desk"), peer: Peer(pid: pid, uid: uid, gid: 1), failure: failure,
      handedOut: tokenId.map { EndedCall.HandedOut(tokenId: $0, service: nil) }, duration: .zero, isImmediate: true)
  }

  private func words() -> [String] {
    written.all.map { "\($0.kind.rawValue) \($0.fields[.method] ?? "-") \($0.fields[.outcome] ?? "-")" }
  }

  @Test func `What changes something is written each time, whatever came of it`() {
    let trail = trail
    for method in [InstanceCreate.self, InstanceUpdate.self, DelegateAttach.self] as [any SDKMethod.Type] {
      let hear = trail.hearer(of: method)
      hear?(call(method))
      hear?(call(method, failure: SDKError(.state, .superseded, "x").rpcError))
      hear?(call(method, failure: .cancelled))
      hear?(call(method, failure: .invalidParams("x")))
    }
    let names = ["instance.create", "instance.update", "delegate.attach"]
    #expect(words() == names.flatMap { ["call \($0) ok", "call \($0) superseded"] })
  }

  @Test func `A record costs no more after years than on the first day`() async throws {
    try await World.run { world in
      let trail = AuditTrail { _ in }
      trail.serve(world.registry)
      let hear = trail.hearer(of: InstanceUpdate.self)
      func batch() -> Duration { ContinuousClock().measure { for _ in 0..<100 { hear?(call(InstanceUpdate.self)) } } }
      // The shortest of some batches: others may use the machine, too.
      func shortest() -> Duration { (0..<20).map { _ in batch() }.min() ?? .zero }
      let first = shortest()
      for _ in 0..<200 { _ = batch() }
      #expect(shortest() < first * 10)
    }
  }

  @Test func `A credential is written once for a process, by whichever method`() {
    let trail = trail
    let (one, two) = (TokenID(Secret("1")), TokenID(Secret("2")))
    for method in [TokenGet.self, SessionOpen.self] as [any SDKMethod.Type] {
      for _ in 0..<5 { trail.hearer(of: method)?(call(method, tokenId: one)) }
    }
    trail.hearer(of: TokenGet.self)?(call(TokenGet.self, tokenId: two))
    trail.hearer(of: TokenGet.self)?(call(TokenGet.self, pid: 2, tokenId: one))
    #expect(words() == Array(repeating: "credential token.get ok", count: 3))
    trail.flush()
    #expect(written.all.count == 4)
    #expect(written.all.last?.fields[.count] == "9")
    #expect(written.all.last?.fields[.tokenId] == one.description)
  }

  @Test func `Refusals are written whatever the method, other failures of reads are not`() {
    let trail = trail
    let denied = SDKError.accessDenied("no").rpcError
    for _ in 0..<3 { trail.hearer(of: TokenGet.self)?(call(TokenGet.self, failure: denied)) }
    trail.hearer(of: StorageGet.self)?(call(StorageGet.self, failure: denied))
    trail.hearer(of: TokenGet.self)?(call(TokenGet.self, failure: SDKError(.state, .notAuthenticated, "x").rpcError))
    trail.hearer(of: nil)?(call(nil, failure: SDKError(.limit, .rateLimit, "x").rpcError))
    trail.hearer(of: nil)?(call(nil, failure: .methodNotFound("x", nearest: nil)))
    #expect(
      words() == ["refusal token.get accessDenied", "refusal storage.get accessDenied", "refusal - rateLimit"])
  }

  @Test func `An event tells of the user by id alone`() throws {
    let event = StoredEvent(
      position: 1, uuid: InstanceUUID("u"), id: try #require(InstanceID("desk")), kind: KindName("k"), time: .now,
      type: .userLoggedOut, data: ["cause": "implicit", "user": ["externalId": "alice", "email": "a@b.example"]])
    trail.heard(event)
    let record = try #require(written.all.first)
    #expect(record.kind == .identity)
    #expect(record.fields[.user] == "alice")
    #expect(record.fields[.cause] == "implicit")
    #expect(!"\(record)".contains("b.example"))
    var other = event
    other.type = .tokenRefreshed
    trail.heard(other)
    #expect(written.count == 1)
  }

  @Test func `Every method that changes an identity, a definition or who answers is of those always written`() {
    let each = CommonMethods.all.filter { AuditRule($0) == .each }.map { $0.name }.sorted()
    #expect(
      each == [
        "daemon.reload", "daemon.rotateKey", "delegate.attach", "delegate.detach", "instance.create", "instance.delete",
        "instance.update",
      ])
  }
}
