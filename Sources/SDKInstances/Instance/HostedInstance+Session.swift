public import SDKProtocol

extension HostedInstance {
  /// All that an app needs to open a conversation; makes an anonymous user if there is none and the SDK may.
  public func openSession(minTTL: Double, timeout: Double?) async throws -> Session {
    for _ in 0..<4 where try await needsUser() {
      guard let pending = await beginAnonymousUser() else { return hidden(.notAuthenticated) }
      do {
        let outcome = try await pending.outcome.value()
        if case .failed(let error) = outcome { throw error }
        break
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    await probeOnce()
    switch machine.phase {
    case .noUser, .loggedOut: return hidden(.notAuthenticated)
    case .locked: return hidden(.locked)
    case .anonymous, .authenticated, .reauthNeeded: break
    }
    do {
      return session(with: try await token(minTTL: minTTL, timeout: timeout, http: true))
    } catch let error as SDKError {
      switch machine.phase {
      case .reauthNeeded: return hidden(.reauthNeeded)
      case .noUser, .loggedOut: return hidden(.notAuthenticated)
      case .locked: return hidden(.locked)
      case .anonymous, .authenticated: throw error
      }
    }
  }

  private func needsUser() async throws -> Bool {
    await enter()
    defer { leave() }
    try checkAlive()
    return adapter.makesAnonymousUsers && (machine.phase == .noUser || machine.phase == .loggedOut)
  }

  private func beginAnonymousUser() async -> Progress? {
    await enter()
    defer { leave() }
    if let progress, machine.activity != .idle { return progress }
    guard machine.phase == .noUser || machine.phase == .loggedOut else { return Self.finishedProgress }
    await take(.userNeeded)
    return progress
  }

  private static var finishedProgress: Progress {
    let progress = Progress()
    progress.outcome.resolve(.success(.done))
    return progress
  }

  /// A credential from before this process is shown to the vendor once, or a revoked one would be handed out blindly.
  private func probeOnce() async {
    guard !isVerified, machine.phase == .authenticated, machine.activity == .idle, machine.standing == .usable,
      let credential = identity.credential, !credential.hasExpired(at: now)
    else { return }
    isVerified = true
    do throws(SDKError) {
      try await adapter.probe(credential, of: identity)
    } catch {
      await enter()
      if error.origin == .vendor, error.httpStatus == 401 {
        if identity.credential?.tokenId == credential.tokenId { await take(.refused(error, canRenew: canRenew)) }
      } else {
        isVerified = false
        if error.origin == .unreachable { await announce(.networkError(error)) }
      }
      leave()
    }
  }

  private func session(with token: Token) -> Session {
    let isAnonymous = machine.phase == .anonymous
    return Session(
      user: visibleUser, token: token, endpoint: adapter.endpoint(for: identity), visible: true,
      history: adapter.hasHistory, mayMerge: isAnonymous, storageEpoch: clientStorageEpoch)
  }

  private func hidden(_ reason: Session.HiddenReason) -> Session {
    Session(
      user: visibleUser, endpoint: adapter.endpoint(for: identity), visible: false, reason: reason,
      history: adapter.hasHistory, mayMerge: false, storageEpoch: clientStorageEpoch)
  }
}
