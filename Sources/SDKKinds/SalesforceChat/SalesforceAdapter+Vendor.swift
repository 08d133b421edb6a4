import JSONRPC
import SDKInstances
import SDKProtocol

extension SalesforceAdapter {
  /// Signs in with settings, as a rule without a request. Their first use shows whether the vendor accepts them
  /// (`rows.md`, F4).
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    var (credential, isIrreplaceable) = (credential, false)
    if credential.mayHaveEnded {
      let verified = try await renew(with: credential, of: .nobody(.noUser))
      if let failure = verified.failure { throw failure }
      credential.details = verified.kindState
      credential.credential = verified.credential ?? credential.credential
      isIrreplaceable = verified.isIrreplaceable
    }
    guard var account = SalesforceAccount(credential.details) else {
      throw SDKError(.local, .authenticationSettingsError, "The settings have no instanceUrl.")
    }
    let isSame = try await isSameUser(credential, &account, as: identity)
    if isSame, account.user == nil { account.identityURL = SalesforceAccount(identity.kindState)?.identityURL }
    // Settings as they were given are the caller's: if they come too late, they are not revoked.
    return SignedIn(
      user: user(of: account, isVerified: false, former: isSame ? identity.user : nil),
      credential: credential.credential, kindState: account.state, events: [.settingsUpdated],
      isIrreplaceable: isIrreplaceable, isTold: isIrreplaceable, isSameUser: isSame)
  }

  /// Verifies settings of the owner with the vendor. A refused access token is refreshed if they have a refresh token.
  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    guard var account = SalesforceAccount(credential.details) else {
      throw SDKError(.provider, .providerOutputInvalid, "The settings have no instanceUrl.")
    }
    let former = SalesforceAccount(identity.kindState)?.user
    do throws(SDKError) {
      if let named = try await wire.userInfo(credential.credential.token, at: account.instanceURL) {
        if let former, !named.isSame(as: former) { throw Self.otherUser }
        if account.user == nil { account.identityURL = Self.identityURL(named, at: wire.loginURL(account)) }
      }
    } catch {
      switch error {
      case _ where isRefusal(error) && account.refreshToken != nil:
        let result = try await refreshed(account, with: credential.credential.token, of: identity)
        // The supplied refresh token belongs to another user, so nothing of it is stored.
        if result.failure == Self.otherUser { throw Self.otherUser }
        return result
      case _ where error.reason == .forbidden && error.origin == .vendor: break
      default: throw error
      }
    }
    return signedIn(account, credential.credential, of: identity, isTold: true)
  }

  /// Returns a sign-in with unverified settings, which their next use verifies; `nil` when the credential holds no
  /// settings.
  func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn? {
    SalesforceAccount(credential.details).map {
      signedIn($0, credential.credential, of: identity, isTold: false)
    }
  }

  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    guard let account = SalesforceAccount(identity.kindState) else { return nil }
    let named = try await wire.userInfo(credential.token, at: account.instanceURL)
    guard account.user == nil, let named else { return nil }
    var known = account
    known.identityURL = Self.identityURL(named, at: wire.loginURL(account))
    return LearnedUser(id: named.user, kindState: known.state.filter { $0.value != identity.kindState[$0.key] })
  }

  /// Whether the settings of a sign-in are those of the present user. Where neither settings nor tokens tell, the vendor
  /// is asked whose they are, before anything is wiped.
  private func isSameUser(
    _ credential: CheckedCredential, _ account: inout SalesforceAccount, as identity: IdentityRecord
  ) async throws(SDKError) -> Bool {
    if let known = isSameUser(credential, as: identity) { return known }
    guard let former = SalesforceAccount(identity.kindState), let present = identity.credential else { return false }
    if account.user == nil {
      guard let named = try await wire.userInfo(credential.credential.token, at: account.instanceURL) else {
        return false
      }
      account.identityURL = Self.identityURL(named, at: wire.loginURL(account))
    }
    var known = former.user
    if known == nil { known = try? await wire.userInfo(present.token, at: former.instanceURL) }
    guard let known, let user = account.user else { return false }
    return user.isSame(as: known)
  }

  /// Requests a new access token with the refresh token. Other values in the response replace the stored ones.
  ///
  /// An unusable response may have spent the refresh token. The result then has a `failure` and keeps the values that
  /// the next renewal needs.
  ///
  /// - Parameter former: the access token that the new one replaces.
  func refreshed(
    _ account: SalesforceAccount, with former: Secret?, of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    guard let spent = account.refreshToken else {
      throw SDKError(.state, .reauthNeeded, "There is no refresh token; sign in again.")
    }
    let answer = try await wire.refresh(spent, of: account)
    var kept = account
    kept.remember([spent, former])
    do throws(SDKError) {
      let json = try answer.tokens(wasRefused: account.refusedToken == TokenID(spent).description)
      kept.refusedToken = nil
      if let rotated = json["refresh_token"]?.stringValue.map({ Secret($0) }), !rotated.isEmpty {
        guard SalesforceText.isToken(rotated), OpaqueText.mistake(rotated) == nil else {
          throw Self.badAnswer("a refresh_token that can't be one")
        }
        kept.refreshToken = rotated
      }
      let known = account.user ?? SalesforceAccount(identity.kindState)?.user
      let (token, fresh) = try read(json, into: kept, known: known)
      let credential = Credential(token: token, type: .accessToken, obtainedAt: clock.now(), expiresAt: nil)
      var result = signedIn(fresh, credential, of: identity, isTold: true)
      result.isIrreplaceable = fresh.refreshToken != spent
      return result
    } catch {
      if error.reason == .badResponse, answer.isEmptyRefusal { kept.refusedToken = TokenID(spent).description }
      guard kept.refreshToken != spent || kept.refusedToken != account.refusedToken else { throw error }
      return SignedIn(
        user: identity.user, credential: nil, kindState: kept.state, isIrreplaceable: kept.refreshToken != spent,
        failure: error)
    }
  }

  /// Reads the access token, the user and the instance URL from the response to a refresh.
  ///
  /// - Parameter known: the user whose token was refreshed.
  /// - Throws: `badResponse`; `providerTokenForOtherUser` for a response that names another user.
  private func read(
    _ json: JSON, into account: SalesforceAccount, known: SalesforceUserID?
  ) throws(SDKError) -> (token: Secret, account: SalesforceAccount) {
    var fresh = account
    if let url = json["id"]?.stringValue, let named = SalesforceUserID(identityURL: url) {
      if let known, !named.isSame(as: known) { throw Self.otherUser }
      fresh.identityURL = url
    }
    guard let token = json["access_token"]?.stringValue.map({ Secret($0) }), SalesforceText.isToken(token),
      OpaqueText.mistake(token) == nil
    else {
      throw Self.badAnswer("an access_token that can't be one")
    }
    if let url = json["instance_url"]?.stringValue {
      do throws(SDKError) {
        try wire.checkMove(of: account, to: url)
      } catch {
        guard error.reason == .accessDenied else { throw Self.badAnswer("an instance_url that can't be one") }
        throw SDKError(.unreachable, .badResponse, "Salesforce answered a refresh, but \(error.message)")
      }
      guard let base = SalesforceText.base(url) else { throw Self.badAnswer("an instance_url that can't be one") }
      fresh.instanceURL = base
    }
    return (token, fresh)
  }

  private func signedIn(
    _ account: SalesforceAccount, _ credential: Credential, of identity: IdentityRecord, isTold: Bool
  ) -> SignedIn {
    var account = account
    if account.user == nil { account.identityURL = SalesforceAccount(identity.kindState)?.identityURL }
    return SignedIn(
      user: user(of: account, isVerified: isTold, former: identity.user), credential: credential,
      kindState: account.state, isTold: isTold)
  }

  private func user(of account: SalesforceAccount, isVerified: Bool, former: User?) -> User {
    User(
      id: account.user?.user ?? former?.id, authenticationType: .oauth2, authenticated: true, verified: isVerified,
      since: former?.since ?? clock.now())
  }

  private static func identityURL(_ user: SalesforceUserID, at url: String) -> String {
    "\(url)/id/\(user.organization)/\(user.user)"
  }

  static let otherUser = SDKError(
    .provider, .providerTokenForOtherUser,
    "The token is another user's; a refresh never switches users. Set the authentication settings to switch.")

  private static func badAnswer(_ what: String) -> SDKError {
    SDKError(.unreachable, .badResponse, "Salesforce answered a refresh with \(what); check login_url.")
  }
}
