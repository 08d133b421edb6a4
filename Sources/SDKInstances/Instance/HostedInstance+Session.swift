import Concurrency
public import SDKProtocol

extension HostedInstance {
  /// Returns everything that an app needs to open a conversation. Creates an anonymous user if there is no user and the
  /// kind allows it.
  ///
  /// - Throws: also `timeout`, when `timeout` seconds pass first. Work that other callers share continues then.
  public func openSession(
    _ demand: TokenDemand, of service: String? = nil, timeout: Double? = nil
  ) async throws -> Session {
    var demand = demand
    demand.http = true
    return try await session(try actor.resolve(service), demand, within: WaitLimit(timeout), attempts: 4)
  }

  private func session(
    _ name: String?, _ demand: TokenDemand, within limit: WaitLimit, attempts: Int
  ) async throws -> Session {
    try await awaitAcceptedLogin(name, within: limit)
    try await createMissingUser(on: name, within: limit)
    // No revoked credential from before this process is issued unchecked.
    let probe = try await limit.limiting(self) { [actor] in try await actor.firstProbe(on: name) }
    try await probe?.value(within: limit.left, of: id, lacking: "The check of the credential has not ended")
    let present = try await present(name)
    if let reason = present.adapter.capabilities.bans?.hidden(present.identity) { return present.hidden(reason) }
    switch present.state.machine.phase {
    case .noUser, .loggedOut:
      let hasMeans = !present.core.means(present.state, present.context).isNone
      if !hasMeans, !present.state.machine.isRecovering, !present.core.admitsGuest(present.state) {
        return try present.withoutUser()
      }
    case .locked: return present.hidden(.locked)
    case .anonymous, .authenticated, .reauthNeeded: break
    }
    do {
      var wasRefused = false
      for _ in 0..<4 {
        let token = try await sessionToken(demand, of: name, timeout: limit.left)
        do {
          if let session = try await opened(name, with: token, within: limit) { return session }
        } catch let error as SDKError where present.adapter.isRefusal(error) {
          let isLast = wasRefused
          try await actor.change(name) { $0.refused(token.tokenId, error, renews: !isLast, on: name, $1) }
          if wasRefused { throw error }
          wasRefused = true
        }
      }
      throw SDKError(.state, .superseded, "The user of \(id) keeps changing; open the session again.", instance: id)
    } catch let error as SDKError where error.reason != .shuttingDown {
      let present = try await self.present(name)
      switch present.state.machine.phase {
      case .reauthNeeded: return present.hidden(.reauthNeeded)
      case .locked: return present.hidden(.locked)
      case .noUser, .loggedOut, .anonymous:
        let isAnonymous = present.state.machine.phase == .anonymous
        if !isAnonymous, error.origin == .state, present.adapter.capabilities.anonymousUsers != nil, attempts > 1 {
          // The user of this session is gone, so the next attempt may create an anonymous one, as for any visitor.
          return try await session(name, demand, within: limit, attempts: attempts - 1)
        }
        if present.goesOnWithout(error), let session = try await opened(name, with: nil, within: limit) {
          return session
        }
        if error.origin == .state, !isAnonymous { return try present.withoutUser() }
        throw error
      case .authenticated: throw error
      }
    }
  }

  /// Waits for a login in progress whose caller did not wait for it, because the call must be for the new user.
  func awaitAcceptedLogin(_ service: String?, within limit: WaitLimit) async throws {
    for _ in 0..<4 {
      guard let login = try await actor.running(on: service, { $0.isSigningInBehind }) else { return }
      do {
        _ = try await login.value(within: limit.left, of: id, lacking: "The login has not ended")
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
  }

  private func createMissingUser(on service: String?, within limit: WaitLimit) async throws {
    for _ in 0..<4 {
      let creation = try await limit.limiting(self) { [actor] in
        try await actor.checkLogins(on: service)
        return try await actor.change(service) { try $0.createAnonymousUser(on: service, $1) }
      }
      guard let creation else { return }
      do {
        let outcome = try await creation.value(
          within: limit.left, of: id, lacking: "The anonymous user has not been created")
        if case .failed(let error) = outcome { throw error }
        return
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
  }

  /// Opens the session. Returns `nil` if the identity or its token changed while the session was being opened.
  private func opened(_ service: String?, with token: Token?, within limit: WaitLimit) async throws -> Session? {
    try await limit.limiting(self) { [actor] in await actor.step(service) { $0.hastenConnection(of: service, $1) } }
    let first = try await present(service)
    let found: SessionOpening
    switch try await additions(to: first, within: limit) {
    case .success(let opening): found = opening
    case .failure(let error):
      if error.origin == .unreachable {
        await actor.step(service) { $0.announce(.networkError(error), on: service, $1) }
      }
      throw error.about(id)
    }
    return try await actor.change(service) { core, _ in
      try core.open(found, with: token, since: first.epoch, on: service)
    }.value
  }

  /// The time for a kind's additions in seconds when the caller's limit has passed. Additions without a request need
  /// none of it.
  private static let lateOpening = 1.0

  /// Returns the kind's additions to a session, or the failure to get them from the vendor. A request to the vendor ends
  /// with the caller's wait: no other caller shares it.
  ///
  /// - Throws: `timeout`.
  private func additions(
    to present: InstanceActor.Snapshot, within limit: WaitLimit
  ) async throws -> Result<SessionOpening, SDKError> {
    guard let sessions = present.adapter.capabilities.sessions else { return .success(SessionOpening()) }
    let (identity, connection) = (present.identity, present.connection)
    let drain = environment.operations.drain
    // No child task: the caller would wait for its end, also when a vendor's connection ignores the cancellation.
    let request = try drain.start { () async -> Result<SessionOpening, SDKError> in
      do throws(SDKError) {
        return .success(try await sessions.open(identity, on: connection))
      } catch {
        return .failure(error)
      }
    }
    defer { drain.abandon(request) }
    return try await request.outcome.value(
      within: limit.left.map { $0 > 0.01 ? $0 : Self.lateOpening }, of: id, lacking: "The session has not been opened",
      continues: false)
  }
}

extension InstanceActor.Snapshot {
  /// Whether a session opens without a credential after the request for one failed with `error`. If the provider or
  /// vendor was only unavailable, it opens just with the policy `fallBack`.
  fileprivate func goesOnWithout(_ error: SDKError) -> Bool {
    guard core.admitsGuest(state) else { return false }
    if adapter.traits.policy.onFailure == .fallBack { return true }
    return error.origin == .state || error.origin == .vendor || error.reason == .providerDenied
      || error.reason == .noProvider
  }

  fileprivate func withoutUser() throws -> Session {
    if adapter.traits.missingUser != nil { throw core.noToken(of: state) }
    return hidden(.notAuthenticated)
  }

  fileprivate func hidden(_ reason: Session.HiddenReason) -> Session { core.hiddenSession(reason, of: state) }
}
