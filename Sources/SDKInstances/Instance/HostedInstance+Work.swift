import DelegateBridge
import JSONRPC
import Logging
import SDKProtocol

extension HostedInstance {
  /// Begins what an action asks for at the vendor or the bridge; the result comes back with the epoch of now.
  func begin(_ action: Action, result: SignedIn?) {
    switch action {
    case .exchange: exchange()
    case .endFormer: endFormer()
    case .endSession:
      guard let credential = progress?.offered?.credential ?? identity.credential else {
        return report(.signOutAccepted(epoch: machine.epoch))
      }
      endSession(credential, ended: Input.signOutAccepted, failed: Input.signOutFailed)
    case .createAnonymous: createAnonymousUser()
    case .ask(let attempt, let isRefusal, let error): ask(attempt: attempt, isRefusal: isRefusal, error)
    case .verify: verify()
    case .probe: probe()
    case .undo: undo(result)
    case .finish(let outcome): finish(outcome)
    case .adopt, .adoptCredential, .wipe, .record, .announce, .supersede: return
    }
  }

  private func finish(_ outcome: AuthenticationMachine.Outcome) {
    let ended = progress
    progress = nil
    if case .failed(let error) = outcome {
      ended?.outcome.resolve(.success(.failed(error.about(id))))
    } else {
      ended?.outcome.resolve(.success(outcome))
    }
  }

  /// Brings a result back, later, as a change of its own.
  private nonisolated func report(_ input: Input) {
    environment.operations.start { await self.receive(input) }
  }

  private func receive(_ input: Input, with result: SignedIn? = nil) async {
    await enter()
    if input.isAnswer { outageToldAt = nil }
    await take(input, with: result)
    leave()
  }

  private func exchange() {
    guard let offered = progress?.offered else { return }
    let (epoch, adapter, identity) = (machine.epoch, adapter, identity)
    environment.operations.start {
      do throws(SDKError) {
        let result = try await adapter.signIn(offered, from: identity)
        await self.receiveSignIn(epoch: epoch, result)
      } catch {
        await self.receive(.signInFailed(epoch: epoch, error))
      }
    }
  }

  private func receiveSignIn(epoch: UInt64, _ result: SignedIn) async {
    await enter()
    outageToldAt = nil
    if epoch == machine.epoch {
      drawJitter()
      isVerified = true
    }
    if await take(.signInAccepted(epoch: epoch), with: result) == false { undo(result) }
    leave()
  }

  /// Forgets a login at the vendor that came too late, unless the same user is signed in by now.
  private func undo(_ result: SignedIn?) {
    guard let result, let credential = result.credential else { return }
    if !isDeleted, machine.hasIdentity, identity.user.externalId == result.user.externalId { return }
    let adapter = adapter
    let late = IdentityRecord(
      phase: .authenticated, user: result.user, credential: credential, kindState: result.kindState)
    environment.operations.start { [logger] in
      do throws(SDKError) {
        try await adapter.signOut(credential, of: late)
        logger.notice("A login that came too late was undone at the vendor.")
      } catch {
        logger.warning("A login that came too late could not be undone at the vendor: \(error.message)")
      }
    }
  }

  /// Ends the former user's session as a logout does: a dead credential is renewed once, so that the vendor can be
  /// told; without a fresh one the logout is local.
  private func endFormer() {
    let epoch = machine.epoch
    guard machine.standing != .none, let credential = identity.credential else {
      return report(.formerEnded(epoch: epoch))
    }
    guard machine.standing == .refused || credential.hasExpired(at: now) else {
      return endSession(credential, ended: Input.formerEnded, failed: Input.formerEndFailed)
    }
    guard canRenew else { return report(.formerEnded(epoch: epoch)) }
    let question = question(attempt: 1, isRefusal: true, nil)
    let (bridge, key, provider, owner) = (environment.bridge, bridgeKey, provider, definition.owner)
    environment.operations.start {
      let answer: BridgeAnswer?
      do throws(SDKError) {
        answer = try await bridge.ask(question, of: key, provider: provider, owner: owner)
      } catch {
        answer = nil
      }
      await self.endFormer(with: answer, epoch: epoch)
    }
  }

  private func endFormer(with answer: BridgeAnswer?, epoch: UInt64) async {
    guard epoch == machine.epoch else { return }
    do throws(SDKError) {
      guard let answer else { return await receive(.formerEnded(epoch: epoch)) }
      endSession(try check(answer).credential, ended: Input.formerEnded, failed: Input.formerEndFailed)
    } catch {
      environment.bridge.reject(bridgeKey)
      await receive(.formerEnded(epoch: epoch))
    }
  }

  private func endSession(
    _ credential: Credential, ended: @escaping @Sendable (UInt64) -> Input,
    failed: @escaping @Sendable (UInt64, SDKError) -> Input
  ) {
    let (epoch, adapter, identity) = (machine.epoch, adapter, identity)
    environment.operations.start {
      do throws(SDKError) {
        try await adapter.signOut(credential, of: identity)
        await self.receive(ended(epoch))
      } catch {
        // A refused credential ends the session too: there is none any more that it could end.
        let isEnded = error.origin == .vendor && ended(epoch).endsFormer
        await self.receive(isEnded ? ended(epoch) : failed(epoch, error))
      }
    }
  }

  private func createAnonymousUser() {
    let (epoch, adapter, identity) = (machine.epoch, adapter, identity)
    environment.operations.start {
      do throws(SDKError) {
        let result = try await adapter.makeAnonymousUser(from: identity)
        await self.receive(.anonymousAccepted(epoch: epoch), with: result)
      } catch {
        await self.receive(.anonymousFailed(epoch: epoch, error))
      }
    }
  }

  private func question(attempt: Int, isRefusal: Bool, _ error: SDKError?) -> BridgeQuestion {
    recovery.beganAt = attempt == 1 ? now : recovery.beganAt ?? now
    let failure = error ?? (isRefusal ? AuthenticationMachine.expiredError : nil)
    return BridgeQuestion(
      isRefusal ? .invalidAuth : .getToken, instance: id, kind: kind, attempt: attempt,
      user: .init(id: identity.user.id, externalId: identity.user.externalId),
      error: failure.map {
        .init(reason: $0.reason, code: $0.vendorCode, description: $0.vendorDescription, httpStatus: $0.httpStatus)
      }, deadline: (recovery.beganAt ?? now) + adapter.common.deadline)
  }

  private func ask(attempt: Int, isRefusal: Bool, _ error: SDKError?) {
    let (epoch, now) = (machine.epoch, now)
    let question = question(attempt: attempt, isRefusal: isRefusal, error)
    let (bridge, key, provider, owner) = (environment.bridge, bridgeKey, provider, definition.owner)
    environment.operations.start {
      do throws(SDKError) {
        let answer = try await bridge.ask(question, of: key, provider: provider, owner: owner)
        await self.receiveAnswer(answer, epoch: epoch, askedAt: now)
      } catch {
        let isDenied = error.reason == .providerDenied
        await self.receive(.answered(epoch: epoch, isDenied ? .denied(error) : .failed(error)))
      }
    }
  }

  private func receiveAnswer(_ answer: BridgeAnswer, epoch: UInt64, askedAt: Timestamp) async {
    do throws(SDKError) {
      let checked = try check(answer)
      recovery.lead = min(max(0, now - askedAt), 60)
      await enter()
      if epoch == machine.epoch { progress?.offered = checked }
      await take(.answered(epoch: epoch, .credential))
      leave()
    } catch {
      environment.bridge.reject(bridgeKey)
      await receive(.answered(epoch: epoch, .failed(error)))
    }
  }

  /// The credential in an answer, if it is one of the user who is signed in.
  private func check(_ answer: BridgeAnswer) throws(SDKError) -> CheckedCredential {
    let checked = try adapter.check(answer, now: now)
    if let known = identity.user.externalId, let named = checked.externalId, named != known {
      throw SDKError(
        .provider, .providerTokenForOtherUser,
        "The token provider gave a token for another user; a refresh never switches users. Log in to switch.")
    }
    return checked
  }

  private func verify() {
    guard let offered = progress?.offered else { return }
    let (epoch, adapter, identity) = (machine.epoch, adapter, identity)
    environment.operations.start {
      do throws(SDKError) {
        try await adapter.verify(offered, of: identity)
        await self.receiveVerified(epoch: epoch)
      } catch {
        switch error.origin {
        case .unreachable: await self.receive(.credentialUnverifiable(epoch: epoch, error))
        case .vendor where error.httpStatus == 401: await self.receive(.credentialRefused(epoch: epoch, error))
        default: await self.receive(.verificationFailed(epoch: epoch, error))
        }
      }
    }
  }

  private func receiveVerified(epoch: UInt64) async {
    await enter()
    outageToldAt = nil
    if epoch == machine.epoch {
      drawJitter()
      isVerified = true
    }
    await take(.credentialAccepted(epoch: epoch))
    leave()
  }

  private func drawJitter() { recovery.random = environment.clock.random() }

  private func probe() {
    guard let credential = identity.credential else { return }
    recovery.probedAt = now
    let (epoch, adapter, identity) = (machine.epoch, adapter, identity)
    environment.operations.start {
      do throws(SDKError) {
        try await adapter.probe(credential, of: identity)
        await self.receive(.probed(epoch: epoch, .accepted))
      } catch {
        await self.receive(.probed(epoch: epoch, error.origin == .vendor ? .refused(error) : .unanswered(error)))
      }
    }
  }
}

extension AuthenticationMachine.Input {
  /// Whether the vendor has answered, whatever it said.
  fileprivate var isAnswer: Bool {
    switch self {
    case .formerEnded, .signOutAccepted, .anonymousAccepted, .credentialRefused, .verificationFailed,
      .probed(_, .accepted), .probed(_, .refused):
      true
    default: false
    }
  }

  fileprivate var endsFormer: Bool { if case .formerEnded = self { true } else { false } }
}
