import DelegateBridge
import SDKInstances
import SDKProtocol

/// An adapter that is made and never used.
struct FakeAdapter: SDKAdapter {
  var common: CommonSettings
  var policy: AuthenticationPolicy {
    AuthenticationPolicy(onDenied: .keep, onBudgetSpent: .keep, onAnotherUser: .signOutFirst, maxAttempts: 1)
  }
  var makesAnonymousUsers: Bool { false }
  var hasHistory: Bool { false }
  private static let unused = SDKError(.unreachable, .network, "This adapter talks to nobody.")

  func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential { throw Self.unused }
  func check(_ answer: BridgeAnswer, now: Timestamp) throws(SDKError) -> CheckedCredential { throw Self.unused }
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    throw Self.unused
  }
  func verify(_ credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) {}
  func signOut(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) {}
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn { throw Self.unused }
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) {}
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint { Session.Endpoint() }
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP { TokenHTTP(headers: [:]) }
  func remainder(of identity: IdentityRecord) -> [String: Secret] { [:] }
}
