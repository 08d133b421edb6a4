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
      guard let pending = try await beginAnonymousUser(name) else { break }
      do {
        let outcome = try await pending.outcome.value()
        if case .failed(let error) = outcome { throw error }
        break
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    try await probeOnce(name)
    let lane = try resolved(name)
    if let reason = adapter.capabilities.bans?.hidden(lane.identity) { return hidden(reason, lane) }
    switch lane.machine.phase {
    case .noUser, .loggedOut:
      if means(lane).isNone, !lane.machine.isRecovering, !admitsGuest(lane) {
        return try withoutUser(lane)
      }
    case .locked: return hidden(.locked, lane)
    case .anonymous, .authenticated, .reauthNeeded: break
    }
    do {
      var wasRefused = false
      for _ in 0..<4 {
        let token = try await sessionToken(service: name, minTTL: minTTL, timeout: timeout, http: true)
        do {
          if let session = try await opened(name, with: token) { return session }
        } catch let error as SDKError where adapter.isRefusal(error) {
          try await refused(token, error, isLast: wasRefused, on: name)
          if wasRefused { throw error }
          wasRefused = true
        }
      }
      throw SDKError(.state, .superseded, "The user of \(id) keeps changing; open the session again.", instance: id)
    } catch let error as SDKError {
      let lane = try resolved(name)
      switch lane.machine.phase {
      case .reauthNeeded: return hidden(.reauthNeeded, lane)
      case .locked: return hidden(.locked, lane)
      case .noUser, .loggedOut, .anonymous:
        if lane.machine.phase != .anonymous, error.origin == .state, adapter.capabilities.anonymousUsers != nil,
          attempts > 1
        {
          // The user of this session is gone, so the next attempt may create an anonymous one, as for any visitor.
          return try await session(name, minTTL: minTTL, timeout: timeout, attempts: attempts - 1)
        }
        if goesOnWithout(error, lane), let session = try await opened(name, with: nil) { return session }
        if error.origin == .state, lane.machine.phase != .anonymous { return try withoutUser(lane) }
        throw error
      case .authenticated: throw error
      }
    }
  }

  /// Waits for a login in progress that its caller did not wait for, because the session is that user's.
  private func awaitAcceptedLogin(_ service: String?, timeout: Double?) async throws {
    for _ in 0..<4 {
      let lane = try resolved(service)
      guard lane.isSigningInBehind, let progress = lane.progress else { return }
      do {
        _ = try await patience(timeout, lacking: "The login has not ended") { try await progress.outcome.value() }
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
  }

  /// Whether a session opens without a credential despite the error. An unavailable provider or vendor has not refused
  /// one, so its failure prevents the session unless the policy is `fallBack`.
  private func goesOnWithout(_ error: SDKError, _ lane: Lane) -> Bool {
    guard admitsGuest(lane) else { return false }
    if adapter.traits.policy.onFailure == .fallBack { return true }
    return error.origin == .state || error.origin == .vendor || error.reason == .providerDenied
      || error.reason == .noProvider
  }

  private func withoutUser(_ lane: Lane) throws -> Session {
    if adapter.traits.missingUser != nil { throw noToken(lane) }
    return hidden(.notAuthenticated, lane)
  }

  private func needsUser(_ service: String?) async throws -> Bool {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    return adapter.capabilities.anonymousUsers != nil && mayBecomeAnonymous(lane)
  }

  /// Whether an anonymous user may be created: only if there is no user, and not after an implicit logout.
  private func mayBecomeAnonymous(_ lane: Lane) -> Bool {
    (lane.machine.phase == .noUser || lane.machine.phase == .loggedOut) && lane.identity.isLoggedOutImplicitly != true
  }

  private func beginAnonymousUser(_ service: String?) async throws -> Progress? {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    if let progress = lane.progress, lane.machine.activity != .idle { return progress }
    guard mayBecomeAnonymous(lane) else { return .done }
    await take(.userNeeded, on: lane)
    return lane.progress
  }

  /// Probes a credential from before this process once at the vendor, so that no revoked one is issued unchecked.
  /// Concurrent callers wait for the same probe.
  private func probeOnce(_ service: String?) async throws {
    try await verification(service)?.value()
  }

  private func verification(_ service: String?) async throws -> Promise<Void>? {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    if let running = lane.verification { return running }
    guard !lane.isVerified, lane.machine.phase == .authenticated, lane.machine.activity == .idle,
      lane.machine.standing == .usable, let credential = lane.identity.credential, !credential.hasExpired(at: vendorNow)
    else { return nil }
    let outcome = Promise<Void>()
    lane.verification = outcome
    let (adapter, identity, epoch, service) = (adapter, lane.identity, lane.machine.epoch, lane.service)
    environment.operations.start {
      do throws(SDKError) {
        try await adapter.probe(credential, of: identity)
        await self.verified(credential, epoch: epoch, nil, on: service)
      } catch {
        await self.verified(credential, epoch: epoch, error, on: service)
      }
      outcome.resolve(.success(()))
    }
    return outcome
  }

  private func verified(_ credential: Credential, epoch: UInt64, _ error: SDKError?, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service) else { return }
    lane.verification = nil
    guard epoch == lane.machine.epoch else { return }
    lane.isVerified = error?.origin != .unreachable
    guard let error else { return }
    if adapter.isRefusal(error) {
      guard lane.identity.credential?.tokenId == credential.tokenId else { return }
      await take(.refused(error, means: means(lane)), on: lane)
    } else if error.origin == .unreachable {
      await announce(.networkError(error), on: lane)
    }
  }

  /// Handles the vendor's refusal of the credential when a session was opened. Renews the credential, unless `isLast`,
  /// so that renewals don't loop.
  private func refused(_ token: Token, _ error: SDKError, isLast: Bool, on service: String?) async throws {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    guard lane.identity.credential?.tokenId == token.tokenId else { return }
    await take(.refused(error, means: isLast ? .none : means(lane)), on: lane)
  }

  /// Whether a session opens for a lane's identity without a credential.
  private func admitsGuest(_ lane: Lane) -> Bool {
    adapter.capabilities.guests?.opensWithoutCredential(lane.identity) ?? false
  }

  /// Returns the kind's additions to a session.
  private func opening(_ service: String?) async throws -> SessionOpening {
    await hastenConnection(of: service)
    let first = try resolved(service)
    guard let sessions = adapter.capabilities.sessions else { return SessionOpening() }
    do throws(SDKError) {
      return try await sessions.open(first.identity, on: first.connection.open)
    } catch {
      if error.origin == .unreachable {
        await changing.lock()
        defer { changing.unlock() }
        await announce(.networkError(error), on: try resolved(service))
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
    let lane = try resolved(service)
    if epoch != lane.machine.epoch { return nil }
    if let token, token.tokenId != lane.identity.credential?.tokenId { return nil }
    let prefill = opening.hidden == nil ? adapter.capabilities.sessions?.prefill(of: lane.identity) : nil
    try await forget(prefill.map { [$0.key] } ?? [], opening, on: lane)
    if let hidden = opening.hidden { return self.hidden(hidden, lane) }
    return Session(
      user: lane.visibleUser, token: token, endpoint: adapter.endpoint(for: lane.identity), visible: true,
      prefill: prefill?.text, data: opening.data, editableFields: opening.editableFields,
      history: adapter.traits.hasHistory, mayMerge: token?.tokenType == .sessionToken,
      live: keepsConnection(lane) ? lane.connection.open != nil : nil,
      storageEpoch: clientStorageEpoch, service: lane.service)
  }

  /// Removes data that is given only once, durably before it is given, and stores what the opening has learned.
  private func forget(_ keys: [String], _ opening: SessionOpening, on lane: Lane) async throws {
    var record = lane.identity
    for key in keys { record.kindState[key] = nil }
    for (key, value) in opening.delivered where record.kindState[key] == value { record.kindState[key] = nil }
    record.kindState.merge(opening.learned) { _, new in new }
    guard record != lane.identity else { return }
    do throws(SDKError) {
      _ = try await store(newChange(), record: record, on: lane, raisedBy: 0)
      publish()
    } catch {
      throw error.about(id)
    }
  }

  private func hidden(_ reason: Session.HiddenReason, _ lane: Lane) -> Session {
    Session(
      user: lane.visibleUser, endpoint: adapter.endpoint(for: lane.identity), visible: false, reason: reason,
      history: adapter.traits.hasHistory, mayMerge: false, storageEpoch: clientStorageEpoch, service: lane.service)
  }
}
