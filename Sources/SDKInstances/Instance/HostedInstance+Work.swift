import Concurrency
import JSONRPC
import Logging
import SDKProtocol

extension HostedInstance {
  /// Begins the work of an action at the vendor or the bridge. Its result is received later, with the epoch in which
  /// the work began.
  func begin(_ action: Action, on lane: Lane, result: SignedIn?) {
    switch action {
    case .exchange: exchange(lane)
    case .endFormer: endFormer(lane)
    case .endSession:
      let credential = lane.progress?.offered?.credential ?? lane.identity.credential
      endSession(lane, credential, ended: Input.signOutAccepted, failed: Input.signOutFailed)
    case .createAnonymous: createAnonymousUser(lane)
    case .ask(let attempt, let isRefusal, let error): ask(lane, attempt: attempt, isRefusal: isRefusal, error)
    case .confirm(let error): confirm(lane, error)
    case .renewItself: renewItself(lane)
    case .verify: verify(lane)
    case .probe: probe(lane)
    case .undo: undo(result, on: lane)
    case .finish(let outcome): finish(lane, outcome)
    case .adopt, .adoptCredential, .wipe, .record, .announce, .supersede, .noteSpending, .fallBack: return
    }
  }

  private func finish(_ lane: Lane, _ outcome: AuthenticationMachine.Outcome) {
    let ended = lane.progress
    lane.progress = nil
    if case .failed(let error) = outcome {
      ended?.outcome.resolve(.success(.failed(error.about(id))))
    } else {
      ended?.outcome.resolve(.success(outcome))
    }
  }

  /// Receives an input asynchronously, as a change of its own.
  private nonisolated func report(_ input: Input, on service: String?) {
    environment.operations.start { await self.receive(input, on: service) }
  }

  func receive(_ input: Input, on service: String?, with result: SignedIn? = nil) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service) else { return abandon(result) }
    if input.isAnswer { lane.outageToldAt = nil }
    await take(input, on: lane, with: result)
  }

  /// Closes the connection of a result that is not used.
  func abandon(_ result: SignedIn?) {
    guard let connection = result?.connection else { return }
    environment.operations.startBackground { await connection.close() }
  }

  // MARK: Logins

  private func exchange(_ lane: Lane) {
    guard let offered = lane.progress?.offered else { return }
    lane.progress?.basis = lane.identity.kindState
    let (epoch, adapter, identity, service) = (lane.machine.epoch, adapter, lane.identity, lane.service)
    environment.operations.start {
      do throws(SDKError) {
        let result = try await adapter.signIn(offered, from: identity)
        await self.receiveSignIn(epoch: epoch, result, on: service)
      } catch {
        await self.receive(.signInFailed(epoch: epoch, error), on: service)
      }
    }
  }

  private func receiveSignIn(epoch: UInt64, _ result: SignedIn, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard let lane = lane(service) else { return abandon(result) }
    if result.prepared == nil, result.isTold { lane.outageToldAt = nil }
    if epoch == lane.machine.epoch { drawJitter(lane) }
    let acceptance: AuthenticationMachine.Acceptance = result.prepared.map { .prepared($0) } ?? .login
    if await take(.signInAccepted(epoch: epoch, as: acceptance), on: lane, with: result) == false {
      undo(result, on: lane)
    }
  }

  /// Logs a late login out at the vendor, unless the same user is signed in by now.
  func undo(_ result: SignedIn?, on lane: Lane) {
    guard let result, result.prepared == nil, result.isTold else { return }
    let late = IdentityRecord(
      phase: .authenticated, user: result.user, credential: result.credential, kindState: result.kindState)
    let isThere =
      !isDeleted && lane.machine.hasIdentity && lane.identity.subject == late.subject
    let adapter = adapter
    environment.operations.start { [logger] in
      if !isThere {
        do throws(SDKError) {
          try await adapter.signOut(result.credential, of: late, on: result.connection)
          logger.notice("A login that came too late was undone at the vendor.")
        } catch {
          logger.warning("A login that came too late could not be undone at the vendor: \(error.message)")
        }
      }
      await result.connection?.close()
    }
  }

  private func createAnonymousUser(_ lane: Lane) {
    let (epoch, adapter, identity, service) = (lane.machine.epoch, adapter, lane.identity, lane.service)
    environment.operations.start {
      do throws(SDKError) {
        let result = try await adapter.capabilities.require(\.anonymousUsers).makeAnonymousUser(from: identity)
        await self.receive(.anonymousAccepted(epoch: epoch), on: service, with: result)
      } catch {
        await self.receive(.anonymousFailed(epoch: epoch, error), on: service)
      }
    }
  }

  // MARK: Logouts

  /// Ends the former user's session as a logout does. If the credential is dead and `renewsToSignOut` holds, the logout
  /// is local.
  private func endFormer(_ lane: Lane) {
    let (epoch, service) = (lane.machine.epoch, lane.service)
    let isDead = lane.machine.standing == .refused || lane.identity.credential?.hasExpired(at: vendorNow) == true
    guard lane.machine.standing != .none, let credential = lane.identity.credential,
      !isDead || !adapter.traits.policy.renewsToSignOut
    else { return report(.formerEnded(epoch: epoch), on: service) }
    endSession(
      lane, credential, ended: { .formerEnded(epoch: $0, informed: true) }, failed: Input.formerEndFailed)
  }

  private func endSession(
    _ lane: Lane, _ credential: Credential?, ended: @escaping @Sendable (UInt64) -> Input,
    failed: @escaping @Sendable (UInt64, SDKError) -> Input
  ) {
    let (epoch, adapter, identity, service) = (lane.machine.epoch, adapter, lane.identity, lane.service)
    let connection = lane.connection.open
    environment.operations.start {
      do throws(SDKError) {
        try await adapter.signOut(credential, of: identity, on: connection)
        await self.receive(ended(epoch), on: service)
      } catch {
        // The vendor's refusal counts as the end of a former user's session: the credential has no session to end.
        let isEnded = error.origin == .vendor && ended(epoch).endsFormer
        await self.receive(isEnded ? .formerEnded(epoch: epoch) : failed(epoch, error), on: service)
      }
    }
  }

  private func probe(_ lane: Lane) {
    guard let credential = lane.identity.credential else { return report(Self.nothing(lane), on: lane.service) }
    lane.recovery.probedAt = now
    let (epoch, adapter, identity, service) = (lane.machine.epoch, adapter, lane.identity, lane.service)
    environment.operations.start {
      do throws(SDKError) {
        try await adapter.probe(credential, of: identity)
        await self.receive(.probed(epoch: epoch, .accepted), on: service)
      } catch {
        await self.receiveProbe(epoch: epoch, error, on: service)
      }
    }
  }

  private static func nothing(_ lane: Lane) -> Input { .probed(epoch: lane.machine.epoch, .accepted) }

  private func receiveProbe(epoch: UInt64, _ error: SDKError, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service) else { return }
    let probe: AuthenticationMachine.Probe
    switch error.origin {
    // A user without the permission is still known to the vendor, which accepts the credential.
    case .vendor where error.reason == .forbidden && !adapter.isRefusal(error): probe = .accepted
    case .vendor: probe = .refused(error)
    default: probe = .unanswered(error)
    }
    if error.origin == .vendor { lane.outageToldAt = nil }
    await take(.probed(epoch: epoch, probe, means: means(lane)), on: lane)
  }

  func drawJitter(_ lane: Lane) { lane.recovery.random = environment.clock.random() }
}

extension AuthenticationMachine.Input {
  /// Whether the input is a response of the vendor, positive or negative.
  fileprivate var isAnswer: Bool {
    switch self {
    case .formerEnded, .signOutAccepted, .anonymousAccepted, .credentialRefused, .verificationFailed,
      .renewedItself, .itselfRefused, .probed(_, .accepted, _), .probed(_, .refused, _):
      true
    default: false
    }
  }

  fileprivate var endsFormer: Bool { if case .formerEnded = self { true } else { false } }

  /// Whether the input reports a session that the vendor has ended.
  var tellsThatVendorKnows: Bool {
    switch self {
    case .signOutAccepted, .formerEnded(_, informed: true): true
    default: false
    }
  }
}
