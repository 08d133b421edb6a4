import JSONRPC
public import SDKProtocol

extension HostedInstance {
  /// Logs a user in with a credential that the caller brings; never asks the bridge.
  ///
  /// - Parameter accepted: called when the login has its place: a later one supersedes it from then on.
  /// - Throws: the SDK's reasons for a credential that can't be right, the vendor's refusal, `superseded`,
  ///   `storeUnavailable`.
  public func signIn(_ token: Secret, accepted: @Sendable () -> Void) async throws -> User {
    let pending: Progress
    do {
      await enter()
      defer { leave() }
      try checkAlive()
      let checked: CheckedCredential
      do throws(SDKError) {
        checked = try adapter.check(token, now: now)
      } catch {
        await announce(.authenticationFailed(error))
        throw error.about(id)
      }
      if token == identity.credential?.token, machine.mayHandOut, machine.phase == .authenticated,
        machine.activity == .idle
      {
        return identity.user
      }
      let sameUser = machine.hasIdentity ? checked.externalId == identity.user.externalId : nil
      pending = Progress(offered: checked)
      await take(.signIn(sameUser: sameUser), beginning: pending)
    }
    accepted()
    try await finished(pending)
    return user
  }

  /// Logs the user out; valid in every state.
  ///
  /// - Returns: whether the vendor knows.
  /// - Throws: when the vendor can't be reached; then everything is kept.
  public func signOut(localOnly: Bool, accepted: @Sendable () -> Void) async throws -> Bool {
    await enter()
    do { try checkAlive() } catch {
      leave()
      throw error
    }
    if machine.standing == .usable, identity.credential?.hasExpired(at: now) == true { machine.standing = .expired }
    let pending = Progress()
    await take(.signOut(localOnly: localOnly), beginning: pending)
    leave()
    accepted()
    guard case .signedOut(let informed) = try await finished(pending) else { return false }
    return informed
  }

  /// Waits for what was begun: past the point of no return a call answers normally, cancelled or not.
  @discardableResult
  private func finished(_ pending: Progress) async throws -> AuthenticationMachine.Outcome {
    let outcome = try await pending.outcome.valueIgnoringCancellation()
    if case .failed(let error) = outcome { throw error.about(id) }
    return outcome
  }

  /// A deleted instance answers as a missing one.
  func checkAlive() throws {
    if isDeleted { throw SDKError.instanceNotFound(id) }
  }
}
