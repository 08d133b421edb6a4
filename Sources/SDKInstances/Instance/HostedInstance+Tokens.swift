import Concurrency
import DelegateBridge
import Logging
public import SDKProtocol

extension HostedInstance {
  /// Returns a living credential: from memory, or from one renewal that all callers share.
  ///
  /// - Throws: `notAuthenticated`, `reauthNeeded`, `locked`; the reasons of provider and vendor; `timeout` when
  ///   `timeout` seconds pass before the renewal ends.
  public func token(
    service: String? = nil, minTTL: Double, timeout: Double?, http: Bool
  ) async throws -> Token {
    try checkIssuable(service)
    let token = try await sessionToken(service: service, minTTL: minTTL, timeout: timeout, http: http)
    // The vendor may have responded meanwhile, after which the kind may withhold the credential.
    try checkIssuable(service)
    return token
  }

  private func checkIssuable(_ service: String?) throws {
    if let error = adapter.capabilities.bans?.withheld(try resolved(service).identity) { throw error.about(id) }
  }

  /// Returns a living credential like `token`, also where the kind withholds it from apps.
  func sessionToken(
    service: String?, minTTL: Double, timeout: Double?, http: Bool
  ) async throws -> Token {
    let name = try resolved(service).service
    var renewed = false
    for _ in 0..<4 {
      let pending: Progress
      switch try await look(name, minTTL: minTTL, renewed: renewed) {
      case .give(let token): return with(http, token, on: name)
      case .wait(let progress): pending = progress
      }
      do {
        let outcome = try await patience(timeout) { try await pending.outcome.value() }
        if case .failed(let error) = outcome {
          if let living = livingToken(name, stale: true) { return with(http, living, on: name) }
          throw error
        }
        renewed = true
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    if let living = livingToken(name, stale: true) { return with(http, living, on: name) }
    throw noToken(try resolved(name))
  }

  /// Renews the credential and returns the new one. A provider's failure leaves a living one as it is. Within
  /// `minInterval` of the last renewal, returns or throws the result of that one.
  ///
  /// - Parameter resetting: whether the caller has the control role. Breaker and `minInterval` are then ignored, and a
  ///   lock by the vendor ends with a credential that it accepts.
  public func refresh(service: String? = nil, timeout: Double?, resetting: Bool) async throws -> Token {
    try checkIssuable(service)
    let name = try resolved(service).service
    // A probe of the present credential ends first.
    while let progress = try resolved(name).progress, try resolved(name).machine.activity == .probing {
      do { _ = try await progress.outcome.value() } catch is SDKError {}
    }
    let pending = try await beginRefresh(name, resetting: resetting)
    let outcome = try await patience(timeout) { try await pending.outcome.value() }
    if case .failed(let error) = outcome { throw error }
    guard var token = livingToken(name, stale: false) else { throw noToken(try resolved(name)) }
    token.fromCache = false
    return token
  }

  private func beginRefresh(_ service: String?, resetting: Bool) async throws -> Progress {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    let means = means(lane)
    guard lane.machine.hasIdentity || resetting && lane.machine.isLockedByVendor || !means.isNone else {
      throw noToken(lane)
    }
    if lane.machine.phase == .locked, !(resetting && lane.machine.isLockedByVendor) { throw noToken(lane) }
    if means.isNone { throw noProvider() }
    if let progress = lane.progress, lane.machine.isRecovering { return progress }
    if resetting {
      environment.bridge.reset(bridgeKey(service))
    } else if lane.recovery.isRecent(now, within: adapter.traits.common.planner.minInterval) {
      if let failure = lane.recovery.failure { throw failure.about(id) }
      if livingToken(service, stale: false) != nil { return .done }
    }
    lane.recovery.trigger = .refresh
    await take(.renew(means), on: lane)
    guard let progress = lane.progress, lane.machine.isRecovering else { throw noToken(lane) }
    return progress
  }

  /// Stops issuing a token that the vendor has refused according to an app, and begins one probe or renewal. If the
  /// last one was less than `minInterval` ago, the next call that needs the token begins it. Ignores a token that is
  /// not the present one.
  public func reject(
    service: String? = nil, _ tokenId: TokenID, status: Int? = nil, code: String? = nil, description: String? = nil
  ) async throws {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    guard lane.identity.credential?.tokenId == tokenId, lane.machine.standing == .usable else { return }
    logger.notice("An app reports that the vendor refused the token.", metadata: ["tokenId": "\(tokenId)"])
    if let note = code.flatMap({ adapter.traits.reportNotes[$0] }) {
      lane.identity.kindState.merge(note) { _, new in new }
      _ = try? await store(newChange(), record: lane.identity, on: lane, raisedBy: 0)
    }
    let report = SDKError(
      .vendor, .invalidAuth, "An app reports that the vendor refused the token.", instance: id, httpStatus: status,
      vendorCode: code, vendorDescription: description)
    guard !lane.recovery.holdsBack(now, within: adapter.traits.common.planner.minInterval) else {
      lane.machine.standing = .reported
      lane.machine.objection = report
      publish()
      return plan()
    }
    await take(.reported(report, means: means(lane)), on: lane)
  }

  /// Begins the probe or renewal for a report that was not followed up, because another one preceded it or no answer
  /// came. Called when a token is needed.
  ///
  /// - Throws: `providerBackoff` within `minInterval` of the last probe or renewal.
  private func followUpReport(_ lane: Lane) async throws -> Progress {
    let interval = adapter.traits.common.planner.minInterval
    if lane.recovery.holdsBack(now, within: interval) {
      throw SDKError(
        .provider, .providerBackoff, "The token was refused and looked at a moment ago; try again in a while.",
        instance: id, retryAfter: interval)
    }
    let report = lane.machine.objection ?? AuthenticationMachine.refusedError
    lane.machine.standing = .usable
    await take(.reported(report, means: means(lane)), on: lane)
    guard let progress = lane.progress else { throw noToken(lane) }
    return progress
  }

  private enum Look {
    case give(Token)
    case wait(Progress)
  }

  /// Returns the token for a caller, or the activity to wait for. Begins a renewal if one is needed.
  private func look(_ service: String?, minTTL: Double, renewed: Bool) async throws -> Look {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    await noticeExpiry(lane)
    if let living = livingToken(service, stale: false) {
      let ttl = living.ttl ?? .infinity
      if ttl >= minTTL || lane.machine.phase == .anonymous { return .give(asFresh(living, renewed)) }
      if renewed || lane.recovery.isRecent(now, within: adapter.traits.common.planner.minInterval) {
        return .give(asShort(living, renewed, on: lane))
      }
      if means(lane).isNone { return .give(staleToken(living)) }
    }
    if let progress = lane.progress, lane.machine.isRecovering || lane.machine.activity == .probing {
      return .wait(progress)
    }
    if lane.machine.standing == .reported, lane.machine.activity == .idle {
      return .wait(try await followUpReport(lane))
    }
    var means = means(lane)
    // A missing owner is announced once, like any other failure before the fallback.
    if means.isNone, adapter.traits.policy.onFailure == .fallBack, lane.identity.degraded == nil || lane.isUntried,
      adapter.mayAsk(for: lane.identity)
    {
      means = .bridge
    }
    guard lane.machine.activity == .idle, lane.machine.phase != .locked, !means.isNone else { throw noToken(lane) }
    lane.recovery.trigger = .call
    await take(.renew(means), on: lane)
    guard let progress = lane.progress else { throw noToken(lane) }
    return .wait(progress)
  }

  /// Compares the credential's end with the clock. Handles an end that passed before the timer fired, and one that lies
  /// ahead again because the clock was set back.
  func noticeExpiry(_ lane: Lane) async {
    guard let credential = lane.identity.credential else { return }
    if lane.machine.waitsForTheClock {
      guard !credential.hasExpired(at: vendorNow) else { return }
      // The next session probes the credential at the vendor.
      lane.isVerified = false
      await take(.revived, on: lane)
    } else if lane.machine.standing == .usable, credential.hasExpired(at: vendorNow) {
      await take(.expired(means: means(lane)), on: lane)
    }
  }

  /// Returns the cached credential, if it may be issued and has not expired.
  func livingToken(_ service: String?, stale: Bool) -> Token? {
    guard let lane = lane(service), lane.machine.mayHandOut, let credential = lane.identity.credential,
      !credential.hasExpired(at: vendorNow)
    else { return nil }
    return Token(
      token: credential.token, tokenId: credential.tokenId, tokenType: credential.type,
      expiresAt: credential.expiresAt,
      ttl: credential.expiresAt.map { (($0 - vendorNow) * 1000).rounded(.down) / 1000 },
      fromCache: true, stale: stale)
  }

  private func staleToken(_ living: Token) -> Token {
    var token = living
    token.stale = true
    return token
  }

  private func asFresh(_ living: Token, _ renewed: Bool) -> Token {
    var token = living
    token.fromCache = !renewed
    return token
  }

  private func asShort(_ living: Token, _ renewed: Bool, on lane: Lane) -> Token {
    var token = asFresh(living, renewed)
    if lane.recovery.failure == nil { token.short = true } else { token.stale = true }
    return token
  }

  func with(_ http: Bool, _ token: Token, on service: String?) -> Token {
    guard http, let identity = lane(service)?.identity, let credential = identity.credential else { return token }
    var token = token
    token.http = adapter.http(for: credential, of: identity)
    return token
  }

  /// Returns the error that explains why there is no token.
  func noToken(_ lane: Lane, as phase: AuthenticationMachine.Phase? = nil) -> SDKError {
    switch phase ?? lane.machine.phase {
    case .noUser, .loggedOut:
      SDKError(
        .state, adapter.traits.missingUser ?? .notAuthenticated, "Nobody is signed in on \(id); log in first.",
        instance: id)
    case .anonymous:
      SDKError(.state, .notAuthenticated, "The user of \(id) is anonymous; log in first.", instance: id)
    case .locked:
      SDKError(.state, .locked, "\(id) is locked and hands out nothing; log in again to unlock it.", instance: id)
    case .authenticated, .reauthNeeded:
      SDKError(
        .state, .reauthNeeded,
        "The credential of \(id) has ended and there is no new one; log in again or configure a token provider.",
        instance: id)
    }
  }

  private func noProvider() -> SDKError {
    SDKError(
      .provider, .noProvider,
      "No token provider is configured for \(id); set provider.command or provider.unit, or log in again with a new token.",
      instance: id)
  }

  /// Waits for a result: at most `seconds`, or without limit if that is `nil`. Throws `timeout` afterwards, while the
  /// work continues.
  func patience<T: Sendable>(
    _ seconds: Double?, lacking: String = "No new token came",
    _ wait: @escaping @Sendable @concurrent () async throws -> T
  ) async throws -> T {
    guard let seconds else { return try await wait() }
    do {
      return try await withTimeout(.seconds(seconds), wait)
    } catch is TimeoutError {
      throw SDKError(.unreachable, .timeout, "\(lacking) within the time given; the work goes on.", instance: id)
    }
  }
}
