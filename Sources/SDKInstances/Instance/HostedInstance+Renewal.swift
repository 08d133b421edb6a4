import Concurrency
import DelegateBridge
import SDKProtocol

extension HostedInstance {
  /// Requests a credential from the owner, or uses the one that was provided in advance, once.
  func ask(_ lane: Lane, attempt: Int, isRefusal: Bool, _ error: SDKError?) {
    let (epoch, now, service) = (lane.machine.epoch, now, lane.service)
    if let supply = lane.supply {
      lane.supply = nil
      environment.operations.start { await self.receiveSupply(supply, epoch: epoch, on: service, isOwn: true) }
      return
    }
    let question = question(lane, attempt: attempt, isRefusal: isRefusal, error)
    let (bridge, key, provider, owner) = (environment.bridge, bridgeKey(service), provider, definition.providerOwner)
    let need = lane.need
    environment.operations.start {
      let answer = await need.run { () async -> Result<BridgeAnswer, SDKError> in
        do throws(SDKError) {
          return .success(try await bridge.ask(question, of: key, provider: provider, owner: owner))
        } catch {
          return .failure(error)
        }
      }
      do throws(SDKError) {
        guard let answer = try answer?.get() else { return }
        await self.receiveAnswer(answer, epoch: epoch, askedAt: now, on: service)
      } catch {
        let isDenied = error.reason == .providerDenied
        await self.receive(.answered(epoch: epoch, isDenied ? .denied(error) : .failed(error)), on: service)
      }
    }
  }

  func question(
    _ lane: Lane, attempt: Int, isRefusal: Bool, _ error: SDKError?, name: BridgeQuestion.Name? = nil
  ) -> BridgeQuestion {
    lane.recovery.beganAt = attempt == 1 ? now : lane.recovery.beganAt ?? now
    let user = lane.identity.user
    var question = BridgeQuestion(
      name ?? adapter.traits.question(isRefusal: isRefusal), instance: id, kind: kind, service: lane.service,
      attempt: attempt, user: user == .none ? nil : .init(id: user.id, externalId: user.externalId),
      error: error.map {
        .init(reason: $0.reason, code: $0.vendorCode, description: $0.vendorDescription, httpStatus: $0.httpStatus)
      }, deadline: (lane.recovery.beganAt ?? now) + adapter.traits.common.deadline)
    question.concealsExternalId = adapter.traits.concealsExternalId
    question.host = vendorHost(lane)
    return question
  }

  /// Returns the vendor's host with its port, for providers that look up a credential by host.
  private func vendorHost(_ lane: Lane) -> String? {
    let endpoint = adapter.endpoint(for: lane.identity)
    guard let url = endpoint.baseUrl ?? endpoint.instanceUrl, let scheme = url.firstRange(of: "://") else { return nil }
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return authority.isEmpty ? nil : String(authority)
  }

  private func receiveSupply(
    _ supply: CheckedCredential, epoch: UInt64, on service: String?, isOwn: Bool = false
  ) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service) else { return }
    if epoch == lane.machine.epoch {
      lane.progress?.offered = supply
      lane.progress?.offersSupply = isOwn
    }
    await take(.answered(epoch: epoch, .credential), on: lane)
  }

  private func receiveAnswer(_ answer: BridgeAnswer, epoch: UInt64, askedAt: Timestamp, on service: String?) async {
    do throws(SDKError) {
      guard let lane = lane(service) else { return }
      guard let checked = try check(answer, for: lane) else {
        return await receive(.answered(epoch: epoch, .declined(noToken(lane, as: .anonymous))), on: service)
      }
      lane.recovery.answerTime.note(min(max(0, now - askedAt), 60))
      await receiveSupply(checked, epoch: epoch, on: service)
    } catch {
      environment.bridge.reject(bridgeKey(service))
      await receive(.answered(epoch: epoch, .failed(error)), on: service)
    }
  }

  /// Returns the checked credential of an answer; `nil` when the owner wants none.
  ///
  /// - Throws: `providerTokenForOtherUser` for the credential of another user; the errors of the adapter's check.
  func check(_ answer: BridgeAnswer, for lane: Lane) throws(SDKError) -> CheckedCredential? {
    guard let checked = try adapter.check(answer, for: lane.identity, now: vendorNow) else { return nil }
    if adapter.isSameUser(checked, as: lane.identity) == false {
      throw SDKError(
        .provider, .providerTokenForOtherUser,
        "The token provider gave a token for another user; a refresh never switches users. Log in to switch.")
    }
    return checked
  }

  /// Notifies the owner of the failure and requests whether to continue. After `maxAttempts` requests within a minute
  /// it declines by itself, because that is a loop.
  func confirm(_ lane: Lane, _ error: SDKError) {
    let (epoch, service) = (lane.machine.epoch, lane.service)
    guard lane.recovery.mayConfirm(now, atMost: adapter.traits.policy.maxAttempts) else {
      environment.operations.start {
        await self.receive(.confirmed(epoch: epoch, .declined(error)), on: service)
      }
      return
    }
    let question = question(lane, attempt: 1, isRefusal: true, error, name: .authenticationFailed)
    let (bridge, key, provider, owner) = (environment.bridge, bridgeKey(service), provider, definition.providerOwner)
    let need = lane.need
    environment.operations.start {
      let confirmation = await need.run { () async -> AuthenticationMachine.Confirmation in
        do throws(SDKError) {
          let answer = try await bridge.ask(question, of: key, provider: provider, owner: owner)
          return answer.proceed == true ? .proceed : .declined(error)
        } catch let failure {
          return failure.reason == .providerDenied ? .declined(failure) : .failed(failure)
        }
      }
      guard let confirmation else { return }
      await self.receive(.confirmed(epoch: epoch, confirmation), on: service)
    }
  }

  /// Renews the credential without the owner: with a refresh token, or by exchanging the identity again.
  func renewItself(_ lane: Lane) {
    lane.progress?.basis = lane.identity.kindState
    let (epoch, adapter, identity, service) = (lane.machine.epoch, adapter, lane.identity, lane.service)
    environment.operations.start {
      do throws(SDKError) {
        let result = try await adapter.capabilities.require(\.renewal).renewItself(identity)
        await self.receiveRenewed(
          .renewedItself(epoch: epoch), orFailed: { .itselfFailed(epoch: epoch, $0) }, epoch: epoch, result, on: service
        )
      } catch {
        await self.receiveFailure(error, epoch: epoch, on: service)
      }
    }
  }

  private func receiveFailure(_ error: SDKError, epoch: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service) else { return }
    guard adapter.isRefusal(error) else {
      // A vendor that limits the rate has not processed the request, so it has spent nothing.
      if error.origin == .unreachable, error.reason != .rateLimited {
        lane.isInterrupted = adapter.capabilities.renewal?.spends(lane.identity) ?? false
      }
      await take(.itselfFailed(epoch: epoch, error), on: lane)
      return
    }
    lane.outageToldAt = nil
    var error = error
    if lane.isInterrupted, epoch == lane.machine.epoch {
      lane.isInterrupted = false
      error = SDKError(
        .state, .rotationInterrupted,
        "The refresh token was spent and its answer lost (\(error.message)); sign in again or answer through the bridge.",
        instance: id, httpStatus: error.httpStatus, vendorCode: error.vendorCode,
        vendorDescription: error.vendorDescription)
    }
    if epoch == lane.machine.epoch {
      if let renewal = adapter.capabilities.renewal {
        lane.identity.kindState = renewal.kindState(afterRefusalOf: lane.identity)
      }
      lane.identity.isSpending = nil
    }
    let isFinal = adapter.traits.finalReason == error.reason
    await take(.itselfRefused(epoch: epoch, error, means: means(lane), isFinal: isFinal), on: lane)
  }

  /// Shows the offered credential to the vendor.
  func verify(_ lane: Lane) {
    guard let offered = lane.progress?.offered else { return }
    lane.progress?.basis = lane.identity.kindState
    let (epoch, adapter, identity, service) = (lane.machine.epoch, adapter, lane.identity, lane.service)
    let supply = lane.progress?.offersSupply == true ? offered : nil
    environment.operations.start {
      do throws(SDKError) {
        let result = try await adapter.renew(with: offered, of: identity)
        await self.receiveRenewed(
          .credentialAccepted(epoch: epoch), orFailed: { .verificationFailed(epoch: epoch, $0) }, epoch: epoch, result,
          on: service)
      } catch {
        switch error.origin {
        case .unreachable:
          if let supply { await self.putBack(supply, epoch: epoch, on: service) }
          let result = adapter.unverified(offered, of: identity)
          await self.receive(.credentialUnverifiable(epoch: epoch, error), on: service, with: result)
        case _ where adapter.isRefusal(error) && adapter.traits.finalReason != error.reason:
          await self.receive(.credentialRefused(epoch: epoch, error), on: service)
        default:
          if error.origin == .provider { self.environment.bridge.reject(self.bridgeKey(service)) }
          await self.receive(.verificationFailed(epoch: epoch, error), on: service)
        }
      }
    }
  }

  /// Keeps a provided credential for the next attempt, because the vendor has not seen it. Kinds with `usesUnverified`
  /// have used it already.
  private func putBack(_ supply: CheckedCredential, epoch: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !adapter.traits.policy.usesUnverified, let lane = lane(service), lane.machine.epoch == epoch else { return }
    lane.supply = supply
  }

  private func receiveRenewed(
    _ input: Input, orFailed failed: (SDKError) -> Input, epoch: UInt64, _ result: SignedIn, on service: String?
  ) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service) else { return abandon(result) }
    guard epoch == lane.machine.epoch else {
      // The identity is gone: without `undo`, the vendor's grant would stay valid.
      if result.isIrreplaceable { undo(result, on: lane) } else { abandon(result) }
      return
    }
    if let failure = result.failure {
      let error = await keep(result, of: lane) ?? failure
      await take(failed(error), on: lane)
      return
    }
    lane.outageToldAt = nil
    drawJitter(lane)
    lane.isVerified = true
    lane.isInterrupted = false
    guard await take(input, on: lane, with: result) == false else { return }
    lane.isInterrupted = result.isIrreplaceable
    abandon(result)
  }

  /// Stores the kind's state from a renewal whose response can't be used, because it may hold the only valid refresh
  /// token.
  ///
  /// - Returns: the error when it could not be stored.
  private func keep(_ result: SignedIn, of lane: Lane) async -> SDKError? {
    var record = lane.identity
    record.kindState = result.kindState
    // A result that can be obtained again does not make up for an irreplaceable one that was lost before.
    let isInterrupted = lane.isInterrupted && !result.isIrreplaceable
    record.isSpending = isInterrupted ? true : nil
    do throws(SDKError) {
      _ = try await store(newChange(), record: record, on: lane, raisedBy: 0)
      lane.isInterrupted = isInterrupted
      return nil
    } catch {
      lane.isInterrupted = isInterrupted || result.isIrreplaceable
      return error
    }
  }
}
