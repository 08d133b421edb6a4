import Concurrency
import Logging
public import SDKProtocol

extension HostedInstance {
  /// Returns a credential that has not expired: from memory, or from one renewal that all callers share.
  ///
  /// - Throws: `notAuthenticated`, `reauthNeeded`, `locked`; the reasons of provider and vendor; `timeout` when
  ///   `timeout` seconds pass before the renewal ends.
  public func token(_ demand: TokenDemand, of service: String?, timeout: Double?) async throws -> Token {
    try await checkIssuable(service)
    let token = try await sessionToken(demand, of: service, timeout: timeout)
    // The vendor may have responded meanwhile, after which the kind may withhold the credential.
    try await checkIssuable(service)
    return token
  }

  private func checkIssuable(_ service: String?) async throws {
    let present = try await present(service)
    if let error = present.adapter.capabilities.bans?.withheld(present.identity) { throw error.about(id) }
  }

  /// Returns a credential as `token` does, but also where the kind withholds it from apps.
  func sessionToken(_ demand: TokenDemand, of service: String?, timeout: Double?) async throws -> Token {
    let name = try actor.resolve(service)
    let limit = WaitLimit(timeout)
    var isRenewed = false
    for _ in 0..<4 {
      let (token, pending) = try await limit.limiting(self) { [actor, isRenewed] in
        try await actor.wanted(name, demand, isRenewed: isRenewed)
      }
      if let token { return token }
      do {
        if case .failed(let error)? = try await pending?.value(within: limit.left, of: id) {
          if let living = try await present(name).livingToken(stale: true, http: demand.http) { return living }
          throw error
        }
        isRenewed = true
      } catch let error as SDKError where error.reason == .superseded {
        continue
      }
    }
    let present = try await present(name)
    if let living = present.livingToken(stale: true, http: demand.http) { return living }
    throw present.core.noToken(of: present.state)
  }

  /// Renews the credential and returns the new one. If the provider fails, a credential that has not expired is kept.
  /// Within `minInterval` of the last renewal, returns or throws the result of that one.
  ///
  /// - Parameter resetting: whether the caller has the control role. Breaker and `minInterval` are then ignored, and a
  ///   lock by the vendor ends with a credential that it accepts.
  public func refresh(service: String? = nil, timeout: Double?, resetting: Bool) async throws -> Token {
    try await checkIssuable(service)
    let name = try actor.resolve(service)
    let limit = WaitLimit(timeout)
    // A probe of the present credential, or a change of the user, ends first.
    while let other = try await actor.running(
      on: name, { $0.machine.activity == .probing || $0.machine.isChangingUser })
    {
      do {
        _ = try await other.value(within: limit.left, of: id)
      } catch let error as SDKError where error.reason != .timeout && error.reason != .shuttingDown {}
    }
    let pending = try await limit.limiting(self) { [actor] in
      try await actor.change(name) { try $0.refreshDemanded(resetting: resetting, on: name, $1) }
    }
    if case .failed(let error)? = try await pending?.value(within: limit.left, of: id) { throw error }
    let present = try await present(name)
    guard var token = present.livingToken(stale: false, http: false) else {
      throw present.core.noToken(of: present.state)
    }
    token.fromCache = false
    return token
  }

  /// Stops issuing a token that the vendor has refused according to an app, and begins one probe or renewal. If the
  /// last one was less than `minInterval` ago, the next call that needs the token begins it. Ignores a token that is
  /// not the present one.
  public func reject(
    service: String? = nil, _ tokenId: TokenID, status: Int? = nil, code: String? = nil, description: String? = nil
  ) async throws {
    let report = SDKError(
      .vendor, .invalidAuth, "An app reports that the vendor refused the token.", instance: id, httpStatus: status,
      vendorCode: SentSecrets.none.text(code), vendorDescription: SentSecrets.none.text(description))
    try await actor.reject(tokenId, report, on: try actor.resolve(service))
  }
}

extension InstanceActor.Snapshot {
  fileprivate func livingToken(stale: Bool, http: Bool) -> Token? {
    core.livingToken(of: state, stale: stale, http: http, context)
  }
}
