import Concurrency
public import SDKProtocol

extension HostedInstance {
  /// Returns everything that an app needs to open a conversation. Creates an anonymous user if there is no user and the
  /// kind allows it.
  public func openSession(service: String? = nil, minTTL: Double, timeout: Double?) async throws -> Session {
    try await session(try resolved(service).service, minTTL: minTTL, timeout: timeout, attempts: 4)
  }

  private func session(
    _ name: String?, minTTL: Double, timeout: Double?, attempts: Int
  ) async throws -> Session {
    try await awaitAcceptedLogin(name, timeout: timeout)
    for _ in 0..<4 where try await needsUser(name) {
      let pending = try await change(name) { core, context in
        let (step, activity) = try core.createAnonymousUser(on: name, context)
        return (step, activity.map { outcome(of: $0) })
      }
      guard let pending else { break }
      do {
        let outcome = try await pending.value()
        if case .failed(let error) = outcome { throw error }
        break
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    try await probeOnce(name)
    let state = try resolved(name)
    if let reason = core.adapter.capabilities.bans?.hidden(state.identity) { return hidden(reason, state) }
    switch state.machine.phase {
    case .noUser, .loggedOut:
      if core.means(state, context(of: name)).isNone, !state.machine.isRecovering, !core.admitsGuest(state) {
        return try withoutUser(state)
      }
    case .locked: return hidden(.locked, state)
    case .anonymous, .authenticated, .reauthNeeded: break
    }
    do {
      var wasRefused = false
      for _ in 0..<4 {
        let token = try await sessionToken(service: name, minTTL: minTTL, timeout: timeout, http: true)
        do {
          if let session = try await opened(name, with: token) { return session }
        } catch let error as SDKError where core.adapter.isRefusal(error) {
          let isLast = wasRefused
          try await change(name) {
            ($0.refused(token.tokenId, error, renews: !isLast, on: name, $1), ())
          }
          if wasRefused { throw error }
          wasRefused = true
        }
      }
      throw SDKError(.state, .superseded, "The user of \(id) keeps changing; open the session again.", instance: id)
    } catch let error as SDKError {
      let state = try resolved(name)
      switch state.machine.phase {
      case .reauthNeeded: return hidden(.reauthNeeded, state)
      case .locked: return hidden(.locked, state)
      case .noUser, .loggedOut, .anonymous:
        if state.machine.phase != .anonymous, error.origin == .state, core.adapter.capabilities.anonymousUsers != nil,
          attempts > 1
        {
          // The user of this session is gone, so the next attempt may create an anonymous one, as for any visitor.
          return try await session(name, minTTL: minTTL, timeout: timeout, attempts: attempts - 1)
        }
        if goesOnWithout(error, state), let session = try await opened(name, with: nil) { return session }
        if error.origin == .state, state.machine.phase != .anonymous { return try withoutUser(state) }
        throw error
      case .authenticated: throw error
      }
    }
  }

  /// Waits for a login in progress that its caller did not wait for, because the session is that user's.
  private func awaitAcceptedLogin(_ service: String?, timeout: Double?) async throws {
    for _ in 0..<4 {
      let state = try resolved(service)
      guard state.isSigningInBehind, let activity = state.running else { return }
      let pending = outcome(of: activity.id)
      do {
        _ = try await patience(timeout, lacking: "The login has not ended") { try await pending.value() }
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
  }

  /// Whether a session opens without a credential despite the error. An unavailable provider or vendor has not refused
  /// one, so its failure prevents the session unless the policy is `fallBack`.
  private func goesOnWithout(_ error: SDKError, _ state: ServiceState) -> Bool {
    guard core.admitsGuest(state) else { return false }
    if core.adapter.traits.policy.onFailure == .fallBack { return true }
    return error.origin == .state || error.origin == .vendor || error.reason == .providerDenied
      || error.reason == .noProvider
  }

  private func withoutUser(_ state: ServiceState) throws -> Session {
    if core.adapter.traits.missingUser != nil { throw core.noToken(of: state) }
    return hidden(.notAuthenticated, state)
  }

  private func needsUser(_ service: String?) async throws -> Bool {
    await changing.lock()
    defer { changing.unlock() }
    let state = try resolved(service)
    return core.adapter.capabilities.anonymousUsers != nil && core.mayBecomeAnonymous(state)
  }

  /// Probes a credential from before this process once at the vendor, so that no revoked one is issued unchecked.
  /// Concurrent callers wait for the same probe.
  private func probeOnce(_ service: String?) async throws {
    try await verification(service)?.value()
  }

  private func verification(_ service: String?) async throws -> Promise<Void>? {
    await changing.lock()
    defer { changing.unlock() }
    let state = try resolved(service)
    if let running = verifications[service] { return running }
    guard !state.isVerified, core.isUsable(state, context(of: service)), let credential = state.identity.credential
    else { return nil }
    let outcome = Promise<Void>()
    verifications[service] = outcome
    let (adapter, identity, epoch) = (core.adapter, state.identity, state.machine.epoch)
    environment.operations.start {
      let error = await Self.failure { () throws(SDKError) in try await adapter.probe(credential, of: identity) }
      await self.verified(credential, epoch: epoch, error, on: service)
      outcome.resolve(.success(()))
    }
    return outcome
  }

  private func verified(_ credential: Credential, epoch: UInt64, _ error: SDKError?, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    verifications[service] = nil
    await follow(service) { $0.verified(credential, epoch: epoch, error, on: service, $1) }
  }

  /// Returns the kind's additions to a session.
  private func opening(_ service: String?) async throws -> SessionOpening {
    await step(service) { $0.hastenConnection(of: service, $1) }
    let first = try resolved(service)
    guard let sessions = core.adapter.capabilities.sessions else { return SessionOpening() }
    do throws(SDKError) {
      return try await sessions.open(first.identity, on: connections[service])
    } catch {
      if error.origin == .unreachable {
        await step(service) { $0.announce(.networkError(error), on: service, $1) }
      }
      throw error.about(id)
    }
  }

  /// Opens the session. Returns `nil` if the identity or its token has changed meanwhile.
  private func opened(_ service: String?, with token: Token?) async throws -> Session? {
    let epoch = try resolved(service).machine.epoch
    let opening = try await opening(service)
    await changing.lock()
    defer { changing.unlock() }
    let state = try resolved(service)
    if epoch != state.machine.epoch { return nil }
    if let token, token.tokenId != state.identity.credential?.tokenId { return nil }
    let sessions = core.adapter.capabilities.sessions
    let prefill = opening.hidden == nil ? sessions?.prefill(of: state.identity) : nil
    try await perform(service) { core, _ in (core.forget(prefill.map { [$0.key] } ?? [], opening, on: service), ()) }
    if let hidden = opening.hidden { return self.hidden(hidden, state) }
    return Session(
      user: state.visibleUser, token: token, endpoint: core.adapter.endpoint(for: state.identity), visible: true,
      prefill: prefill?.text, data: opening.data, editableFields: opening.editableFields,
      history: core.adapter.traits.hasHistory, mayMerge: token?.tokenType == .sessionToken,
      live: core.keepsConnection(state) ? state.connection.isOpen : nil,
      storageEpoch: core.clientStorageEpoch, service: service)
  }

  private func hidden(_ reason: Session.HiddenReason, _ state: ServiceState) -> Session {
    Session(
      user: state.visibleUser, endpoint: core.adapter.endpoint(for: state.identity), visible: false, reason: reason,
      history: core.adapter.traits.hasHistory, mayMerge: false, storageEpoch: core.clientStorageEpoch,
      service: state.service)
  }
}
