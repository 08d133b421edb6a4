import JSONRPC
import SDKInstances
import SDKProtocol

/// Guests: users of a channel without user verification.
extension MessagingInAppAdapter {
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    let grant = try await wire.makeGuest()
    let user = User(
      id: grant.claims.subject, authenticationType: .sessionToken, authenticated: false, verified: false,
      since: clock.now())
    return guest(user, grant, MessagingInAppState(identity.kindState), isIrreplaceable: true)
  }

  /// Gets the next access token of a guest with the refresh token, which the vendor may replace.
  ///
  /// A response that can't be used may have spent the refresh token. The result then has a `failure` and keeps the new
  /// one.
  func renewGuest(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    var state = MessagingInAppState(identity.kindState)
    guard let spent = state.refreshToken, let token = identity.credential?.token else {
      throw SDKError(.state, .notAuthenticated, "There is no refresh token of a guest; clear the storage.")
    }
    let answer = try await wire.renewGuest(token, refreshToken: spent)
    let isRotated = answer.refreshToken.map { $0 != spent } ?? false
    if isRotated { state.refreshToken = answer.refreshToken }
    do throws(SDKError) {
      let grant = try MessagingInAppGrant(answer)
      if let former = identity.user.id, let subject = grant.claims.subject, !subject.hasSameBytes(as: former) {
        throw SDKError(
          .state, .identityMismatch,
          "\(MessagingInAppAnswer.vendor) issued the token of another guest, which is not used.")
      }
      return guest(identity.user, grant, state, isIrreplaceable: isRotated)
    } catch {
      guard isRotated else { throw error }
      return SignedIn(
        user: identity.user, credential: nil, kindState: state.kindState, isIrreplaceable: true, failure: error)
    }
  }

  private func guest(
    _ user: User, _ grant: MessagingInAppGrant, _ former: MessagingInAppState, isIrreplaceable: Bool
  ) -> SignedIn {
    var state = former
    state.note(lastEventId: grant.lastEventId)
    state.clientId = grant.claims.clientId ?? state.clientId
    state.refreshToken = grant.refreshToken ?? state.refreshToken
    // A guest that can't be renewed can't be had again: only the vendor ends one, not the clock.
    let end = state.refreshToken == nil ? nil : grant.claims.expiresAt
    return SignedIn(
      user: user,
      credential: Credential(token: grant.token, type: .accessToken, obtainedAt: clock.now(), expiresAt: end),
      kindState: state.kindState, isIrreplaceable: isIrreplaceable)
  }
}
