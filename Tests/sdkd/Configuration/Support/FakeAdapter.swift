import DelegateBridge
import SDKInstances
import SDKProtocol

/// An adapter that is made and never used.
final class FakeAdapter: SDKAdapter {
  let traits: SDKTraits
  let capabilities = Capabilities()

  init(common: CommonSettings) {
    traits = SDKTraits(
      common: common,
      policy: AuthenticationPolicy(onDenied: .keep, onBudgetSpent: .keep, onAnotherUser: .signOutFirst, maxAttempts: 1))
  }

  private static let unused = SDKError(.unreachable, .network, "This adapter talks to nobody.")

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? { throw Self.unused }
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    throw Self.unused
  }
  func renew(
    with credential: CheckedCredential, of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn { throw Self.unused }
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {}
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? { nil }
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint { Session.Endpoint() }
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP { TokenHTTP(headers: [:]) }
}
