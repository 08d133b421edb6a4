import Concurrency
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
    if let error = core.adapter.capabilities.bans?.withheld(try resolved(service).identity) { throw error.about(id) }
  }

  /// Returns a living credential like `token`, also where the kind withholds it from apps.
  func sessionToken(
    service: String?, minTTL: Double, timeout: Double?, http: Bool
  ) async throws -> Token {
    let name = try resolved(service).service
    var isRenewed = false
    for _ in 0..<4 {
      let (token, pending) = try await wanted(name, minTTL: minTTL, isRenewed: isRenewed)
      if let token { return with(http, token, on: name) }
      do {
        let outcome = try await patience(timeout) { try await pending?.value() }
        if case .failed(let error)? = outcome {
          if let living = livingToken(name, stale: true) { return with(http, living, on: name) }
          throw error
        }
        isRenewed = true
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    if let living = livingToken(name, stale: true) { return with(http, living, on: name) }
    throw core.noToken(of: try resolved(name))
  }

  /// Returns the token for a caller, or the outcome of the activity to wait for.
  private func wanted(
    _ service: String?, minTTL: Double, isRenewed: Bool
  ) async throws -> (token: Token?, pending: PendingOutcome?) {
    await changing.lock()
    defer { changing.unlock() }
    await follow(service) { $0.noticeExpiry(on: service, $1) }
    return try await perform(service) { core, context in
      let (step, decision) = try core.wanted(minTTL: minTTL, isRenewed: isRenewed, on: service, context)
      return switch decision {
      case .token(let token): (step, (token, nil))
      case .wait(let activity): (step, (nil, outcome(of: activity)))
      }
    }
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
    while let activity = try resolved(name).running, try resolved(name).machine.activity == .probing {
      do { _ = try await outcome(of: activity.id).value() } catch is SDKError {}
    }
    let pending = try await change(name) { core, context in
      let (step, activity) = try core.refreshDemanded(resetting: resetting, on: name, context)
      return (step, activity.map { outcome(of: $0) })
    }
    if case .failed(let error)? = try await patience(timeout, { try await pending?.value() }) { throw error }
    guard var token = livingToken(name, stale: false) else { throw core.noToken(of: try resolved(name)) }
    token.fromCache = false
    return token
  }

  /// Stops issuing a token that the vendor has refused according to an app, and begins one probe or renewal. If the
  /// last one was less than `minInterval` ago, the next call that needs the token begins it. Ignores a token that is
  /// not the present one.
  public func reject(
    service: String? = nil, _ tokenId: TokenID, status: Int? = nil, code: String? = nil, description: String? = nil
  ) async throws {
    await changing.lock()
    defer { changing.unlock() }
    let state = try resolved(service)
    guard state.identity.credential?.tokenId == tokenId, state.machine.standing == .usable else { return }
    logger.notice("An app reports that the vendor refused the token.", metadata: ["tokenId": "\(tokenId)"])
    let report = SDKError(
      .vendor, .invalidAuth, "An app reports that the vendor refused the token.", instance: id, httpStatus: status,
      vendorCode: code, vendorDescription: description)
    await follow(state.service) { core, _ in core.reportNote(of: report, on: state.service) }
    await follow(state.service) { $0.reported(report, on: state.service, $1) }
  }

  private func livingToken(_ service: String?, stale: Bool) -> Token? {
    core[service].flatMap { core.livingToken(of: $0, stale: stale, context(of: service)) }
  }

  private func with(_ http: Bool, _ token: Token, on service: String?) -> Token {
    guard http, let identity = core[service]?.identity, let credential = identity.credential else { return token }
    var token = token
    token.http = core.adapter.http(for: credential, of: identity)
    return token
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
