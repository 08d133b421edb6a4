import Doubles
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import StateStore

/// Steps whose change can't be stored.
struct SettleTests {
  /// Makes a login of a user. With `fails`, its result can't be stored.
  private func signIn(_ user: String, fails: Bool = false, _ walk: inout CoreWalk) throws {
    walk.make(CoreWalk.Move(kind: .signIn(user: user, lifetime: nil, isAwaited: true)))
    let login = walk.work.firstIndex { if case .signIn = $0.effect { true } else { false } }
    walk.make(CoreWalk.Move(kind: .result(of: try #require(login), failure: nil, lifetime: nil), fails: fails))
  }

  @Test(
    "A switch of users that can't be stored leaves the former user signed in",
    arguments: AuthenticationPolicy.samples.indices.filter {
      AuthenticationPolicy.samples[$0].onAnotherUser != .signOutFirst
    })
  func aSwitchThatCanNotBeStoredLeavesTheFormerUser(policy: Int) throws {
    var walk = try CoreWalk(AuthenticationPolicy.samples[policy])
    try signIn("alice", &walk)
    let former = try #require(walk.core[nil])
    try signIn("bob", fails: true, &walk)
    let state = try #require(walk.core[nil])
    #expect(state.identity.user.externalId == "alice")
    #expect(state.identity == former.identity)
    #expect(state.machine.phase == .authenticated)
    #expect(state.machine.mayHandOut)
    #expect(state.running == nil)
    let identities = try walk.core.storedIdentities()
    #expect(walk.store.instances.first?.identity == identities)
    #expect(walk.rules.broken == [])
  }
}
