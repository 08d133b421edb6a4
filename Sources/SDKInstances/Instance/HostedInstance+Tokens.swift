import DelegateBridge
import Logging
public import SDKProtocol

extension HostedInstance {
  /// A living credential: from memory, or through one renewal that all waiters share.
  ///
  /// - Throws: `notAuthenticated`, `reauthNeeded`, `locked`; the reasons of provider and vendor; `timeout` when the
  ///   caller's patience ends before the renewal does.
  public func token(minTTL: Double, timeout: Double?, http: Bool) async throws -> Token {
    var renewed = false
    for _ in 0..<4 {
      let pending: Progress
      switch try await look(minTTL: minTTL, renewed: renewed) {
      case .give(let token): return with(http, token)
      case .wait(let progress): pending = progress
      }
      do {
        let outcome = try await patience(timeout) { try await pending.outcome.value() }
        if case .failed(let error) = outcome {
          if let living = livingToken(stale: true) { return with(http, living) }
          throw error
        }
        renewed = true
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    if let living = livingToken(stale: true) { return with(http, living) }
    throw noToken()
  }

  /// A new credential, or the error; the cached one stays as it was.
  ///
  /// - Parameter resetting: the caller has control: breaker and interval don't hold it back.
  public func refresh(timeout: Double?, resetting: Bool) async throws -> Token {
    let pending: Progress = try await {
      await enter()
      defer { leave() }
      try checkAlive()
      guard machine.hasIdentity else { throw noToken() }
      guard canRenew else { throw noProvider() }
      if let progress, machine.isRecovering { return progress }
      if resetting {
        environment.bridge.reset(bridgeKey)
      } else if recovery.isRecent(now, within: adapter.common.planner.minInterval) {
        if let failure = recovery.failure { throw failure.about(id) }
        if livingToken(stale: false) != nil { return Self.done }
      }
      await take(.renew)
      guard let progress, machine.isRecovering else { throw noToken() }
      return progress
    }()
    let outcome = try await patience(timeout) { try await pending.outcome.value() }
    if case .failed(let error) = outcome { throw error }
    guard var token = livingToken(stale: false) else { throw noToken() }
    token.fromCache = false
    return token
  }

  /// The app saw the vendor refuse a token: nobody gets it any more, and one probe or renewal follows.
  public func reject(_ tokenId: TokenID) async throws {
    await enter()
    defer { leave() }
    try checkAlive()
    guard identity.credential?.tokenId == tokenId, machine.standing == .usable else { return }
    logger.notice("An app reports that the vendor refused the token.", metadata: ["tokenId": "\(tokenId)"])
    guard !recovery.holdsBack(now, within: adapter.common.planner.minInterval) else {
      machine.standing = .reported
      publish()
      return plan()
    }
    await take(.reported(canRenew: canRenew))
  }

  /// What was reported and not followed up, because another report had just been or nobody answered, is followed up
  /// when somebody needs the token.
  private func followUpReport() async throws -> Progress {
    let interval = adapter.common.planner.minInterval
    if recovery.holdsBack(now, within: interval) {
      throw SDKError(
        .provider, .providerBackoff, "The token was refused and looked at a moment ago; try again in a while.",
        instance: id, retryAfter: interval)
    }
    machine.standing = .usable
    await take(.reported(canRenew: canRenew))
    guard let progress else { throw noToken() }
    return progress
  }

  private enum Look {
    case give(Token)
    case wait(Progress)
  }

  /// What a reader gets now; begins a renewal if one is needed.
  private func look(minTTL: Double, renewed: Bool) async throws -> Look {
    await enter()
    defer { leave() }
    try checkAlive()
    await noticeExpiry()
    if let living = livingToken(stale: false) {
      let ttl = living.ttl ?? .infinity
      if ttl >= minTTL || machine.phase == .anonymous { return .give(asFresh(living, renewed)) }
      if renewed || recovery.isRecent(now, within: adapter.common.planner.minInterval) {
        return .give(asShort(living, renewed))
      }
      if !canRenew { return .give(try staleToken(living)) }
    }
    if let progress, machine.isRecovering || machine.activity == .probing { return .wait(progress) }
    if machine.standing == .reported, machine.activity == .idle { return .wait(try await followUpReport()) }
    guard machine.hasIdentity, machine.activity == .idle else { throw noToken() }
    guard canRenew else { throw noToken() }
    await take(.renew)
    guard let progress else { throw noToken() }
    return .wait(progress)
  }

  /// The clock may have passed the end of the credential before the deadline's timer came.
  func noticeExpiry() async {
    guard machine.standing == .usable, identity.credential?.hasExpired(at: now) == true else { return }
    await take(.expired(canRenew: canRenew))
  }

  /// The cached credential, if it may be handed out and lives.
  func livingToken(stale: Bool) -> Token? {
    guard machine.mayHandOut, let credential = identity.credential, !credential.hasExpired(at: now) else { return nil }
    return Token(
      token: credential.token, tokenId: credential.tokenId, tokenType: credential.type,
      expiresAt: credential.expiresAt, ttl: credential.expiresAt.map { (($0 - now) * 1000).rounded(.down) / 1000 },
      fromCache: true, stale: stale)
  }

  private func staleToken(_ living: Token) throws -> Token {
    var token = living
    token.stale = true
    return token
  }

  private func asFresh(_ living: Token, _ renewed: Bool) -> Token {
    var token = living
    token.fromCache = !renewed
    return token
  }

  private func asShort(_ living: Token, _ renewed: Bool) -> Token {
    var token = asFresh(living, renewed)
    if recovery.failure == nil { token.short = true } else { token.stale = true }
    return token
  }

  func with(_ http: Bool, _ token: Token) -> Token {
    guard http, let credential = identity.credential else { return token }
    var token = token
    token.http = adapter.http(for: credential, of: identity)
    return token
  }

  /// Why there is no token.
  func noToken() -> SDKError {
    switch machine.phase {
    case .noUser, .loggedOut:
      SDKError(.state, .notAuthenticated, "Nobody is signed in on \(id); log in first.", instance: id)
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
      "No token provider is configured for \(id); set provider.command, or log in again with a new token.",
      instance: id)
  }

  private static var done: Progress {
    let progress = Progress()
    progress.outcome.resolve(.success(.done))
    return progress
  }

  /// Waits at most so long; what is waited for goes on.
  private func patience<T: Sendable>(
    _ seconds: Double?, _ wait: @escaping @Sendable @concurrent () async throws -> T
  ) async throws -> T {
    guard let seconds else { return try await wait() }
    let id = id
    return try await withThrowingTaskGroup(of: T.self) { group in
      group.addTask(operation: wait)
      group.addTask {
        try await ContinuousClock().sleep(for: .seconds(seconds))
        throw SDKError(
          .unreachable, .timeout, "No new token came within the time given; the renewal goes on.", instance: id)
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}

extension AuthenticationMachine {
  /// Whether a renewal is in progress.
  var isRecovering: Bool {
    switch activity {
    case .asking, .verifying: true
    default: false
    }
  }
}
