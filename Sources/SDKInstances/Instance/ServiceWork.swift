import Concurrency
import DelegateBridge
import Logging
import SDKProtocol

/// The work of a service that needs the vendor or the bridge. Its result is passed to the instance, with the epoch in
/// which the work began.
struct ServiceWork: Sendable {
  private let instance: InstanceActor
  private let adapter: any SDKAdapter
  private let identity: IdentityRecord
  private let epoch: UInt64
  let service: String?

  /// Creates the work for a service in its present state.
  init(instance: InstanceActor, adapter: any SDKAdapter, state: ServiceState) {
    self.instance = instance
    self.adapter = adapter
    identity = state.identity
    epoch = state.machine.epoch
    service = state.service
  }

  /// Passes an input to the instance's state machine, as a step of its own.
  func receive(_ input: AuthenticationMachine.Input, with result: SignedIn? = nil) async {
    await instance.step(service) { $0.received(input, on: service, with: result, $1) }
  }

  /// Returns a result with this work as its origin.
  private func originating(_ result: SignedIn) -> SignedIn {
    var result = result
    result.origin = .init(adapter: adapter, epoch: epoch)
    return result
  }

  // MARK: Logins and logouts

  func signIn(_ credential: CheckedCredential) async {
    var credential = credential
    credential.mayHaveEnded = await instance.awaitSessionEnds(of: credential)
    do throws(SDKError) {
      let result = originating(try await adapter.signIn(credential, from: identity))
      await instance.signedIn(result, epoch: epoch, on: service)
    } catch {
      await receive(.signInFailed(epoch: epoch, error))
    }
  }

  func createAnonymousUser() async {
    do throws(SDKError) {
      let result = try await adapter.capabilities.require(\.anonymousUsers).makeAnonymousUser(from: identity)
      await receive(.anonymousAccepted(epoch: epoch), with: result)
    } catch {
      await receive(.anonymousFailed(epoch: epoch, error))
    }
  }

  /// Ends the session of a credential at the vendor, and reports the outcome to the instance.
  func endSession(_ credential: Credential?, kindState: [String: Secret]) async {
    var identity = identity
    identity.kindState = kindState
    let error = await signOutFailure(credential, of: identity)
    await receive(error.map { .signOutFailed(epoch: epoch, $0) } ?? .signOutAccepted(epoch: epoch))
  }

  /// Ends the session of the former user before another one's login, and reports the outcome to the instance.
  func endFormer(_ credential: Credential?) async {
    switch await signOutFailure(credential, of: identity) {
    case nil: await receive(.formerEnded(epoch: epoch, informed: true))
    // The vendor's refusal counts as the end of the session: the credential has no session to end.
    case let error? where error.origin == .vendor: await receive(.formerEnded(epoch: epoch))
    case let error?: await receive(.formerEndFailed(epoch: epoch, error))
    }
  }

  private func signOutFailure(_ credential: Credential?, of identity: IdentityRecord) async -> SDKError? {
    let connection = await instance.connectionToLeave(service)
    return await failure { () throws(SDKError) in
      try await adapter.signOut(credential, of: identity, on: connection)
    }?.refusingIfClientError
  }

  /// Undoes a login, or the creation of an anonymous user, whose result came too late to be used: logs the user out and
  /// closes the connection. If the vendor can't be reached, the instance adds cleanup deliveries instead.
  func undo(_ result: SignedIn, logsOut: Bool) async {
    let late = IdentityRecord(
      phase: .authenticated, user: result.user, credential: result.credential, kindState: result.kindState)
    if logsOut, let end = await instance.beginUndo(of: late, from: result.origin, on: service) {
      defer { end.resolve(.success(())) }
      do throws(SDKError) {
        let former = result.origin?.adapter ?? adapter
        try await former.signOut(result.credential, of: late, on: result.connection)
        instance.logger.notice("A login that came too late was undone at the vendor.")
      } catch {
        instance.logger.warning("A login that came too late could not be undone at the vendor: \(error.message)")
        if error.refusingIfClientError.origin == .unreachable {
          await instance.step(service) { $0.leaveCleanup(of: late, from: result.origin, on: service, $1) }
        }
      }
    }
    await result.connection?.close()
    await instance.restorePush(on: service)
  }

  // MARK: Renewals and probes

  func offer(_ credential: CheckedCredential) async {
    await instance.step(service) { $0.offered(credential, isProvided: true, epoch: epoch, on: service, $1) }
  }

  func renewItself() async {
    do throws(SDKError) {
      let result = originating(try await adapter.capabilities.require(\.renewal).renewItself(identity))
      await instance.renewed(result, byItself: true, epoch: epoch, on: service)
    } catch {
      await instance.step(service) { $0.renewalFailed(error, epoch: epoch, on: service, $1) }
    }
  }

  func verify(_ offered: CheckedCredential, isProvided: Bool) async {
    _ = await instance.awaitSessionEnds(of: offered)
    do throws(SDKError) {
      let result = originating(try await adapter.renew(with: offered, of: identity))
      if !isProvided { instance.judgeAnswer(isUsable: true, of: service) }
      await instance.renewed(result, byItself: false, epoch: epoch, on: service)
    } catch {
      // Neither a vendor that can't be reached nor its refusal is a failure of the provider.
      if !isProvided { instance.judgeAnswer(isUsable: error.origin != .provider, of: service) }
      await instance.step(service) {
        $0.verificationFailed(error, of: offered, isProvided: isProvided, epoch: epoch, on: service, $1)
      }
    }
  }

  func probe(_ credential: Credential) async {
    let error = await failure { () throws(SDKError) in _ = try await adapter.probe(credential, of: identity) }
    await instance.step(service) { $0.probed(error, epoch: epoch, on: service, $1) }
  }

  /// Probes a credential that was stored before this process started.
  func probeFirst(_ credential: Credential) async {
    do throws(SDKError) {
      let learned = try await adapter.probe(credential, of: identity)
      await instance.verified(credential, epoch: epoch, nil, learned: learned, on: service)
    } catch {
      await instance.verified(credential, epoch: epoch, error, on: service)
    }
  }

  // MARK: The bridge

  func ask(_ request: InstanceActor.Request, askedAt: Timestamp) async {
    switch await request() {
    case nil: return
    case .success(let answer)?:
      await instance.step(service) { $0.answered(answer, epoch: epoch, askedAt: askedAt, on: service, $1) }
    case .failure(let error)?:
      await receive(.answered(epoch: epoch, error.reason == .providerDenied ? .denied(error) : .failed(error)))
    }
  }

  /// Asks the owner, through the bridge, whether to continue after a failure. Reports the response to the instance.
  func confirm(_ request: InstanceActor.Request, _ error: SDKError) async {
    let confirmation: AuthenticationMachine.Confirmation
    switch await request() {
    case nil: return
    case .success(let answer)?:
      instance.judgeAnswer(isUsable: true, of: service)
      confirmation = answer.proceed == true ? .proceed : .declined(error)
    case .failure(let failure)?:
      confirmation = failure.reason == .providerDenied ? .declined(failure) : .failed(failure)
    }
    await receive(.confirmed(epoch: epoch, confirmation))
  }

  // MARK: Connections

  func connect(number: UInt64) async {
    do throws(SDKError) {
      let connection = try await adapter.capabilities.require(\.connection).connect(identity)
      let user = originating(
        SignedIn(
          user: identity.user, credential: identity.credential, kindState: identity.kindState, connection: connection))
      await instance.step(service) { core, _ in core.connected(as: user, number: number, epoch: epoch, on: service) }
    } catch {
      let end = adapter.isRefusal(error) ? RealtimeEnd.refused(error) : .lost(error)
      await instance.connectionEnded(end, number: number, on: service)
    }
  }

  /// Receives the vendor's messages until the connection ends. Static, so that the task of a connection retains no
  /// other state of the instance.
  static func listen(
    to connection: any RealtimeConnection, number: UInt64, on service: String?, of instance: InstanceActor
  ) async {
    let end = await connection.run { news in await hear(news, number: number, on: service, of: instance) }
    await connection.close()
    await instance.connectionEnded(end, number: number, on: service)
  }

  /// Passes news from a connection to the instance. Not inlined: handling a merge needs a large stack frame, for which
  /// the task of each connection would reserve memory.
  @inline(never)
  private static func hear(
    _ news: RealtimeNews, number: UInt64, on service: String?, of instance: InstanceActor
  ) async {
    await instance.step(service) { $0.heard(news, number: number, on: service, $1) }
  }
}

/// Work at the vendor for a cleanup delivery.
struct DeliveryWork: Sendable {
  let instance: InstanceActor
  let adapter: any SDKAdapter
  let delivery: Delivery
  /// The promise to resolve when the vendor has responded; `nil` unless the delivery ends a user's session.
  var end: Promise<Void>?

  func deliver() async {
    var attempted = delivery
    let error = await failure { () throws(SDKError) in
      try await adapter.capabilities.require(\.cleanup).deliver(&attempted)
    }
    let mayEndPushes = await instance.delivered(delivery, leaving: attempted.details, failure: error)
    // Before the wait below, because a login of the same user waits for it.
    end?.resolve(.success(()))
    guard mayEndPushes else { return }
    // The vendor may have dropped the present user's devices.
    if let login = try? await instance.running(on: delivery.service, { $0.isChangingUser }) {
      _ = try? await login.value()
    }
    await instance.restorePush(on: delivery.service)
  }

  /// Reports to the instance that a delivery has failed, because its deadline has passed.
  func abandonLate() async {
    let error = SDKError(.unreachable, .timeout, "The time to tell the vendor was over before it could be reached.")
    await instance.delivered(delivery, leaving: delivery.details, failure: error)
  }
}

extension SDKError {
  /// The error of a logout, as a refusal by the vendor if its status says that the request itself is wrong. The same
  /// request would fail again, while other statuses may be the fault of a proxy or of the moment.
  fileprivate var refusingIfClientError: SDKError {
    guard origin == .unreachable, let httpStatus, [400, 405, 406, 410, 411, 413, 414, 415, 422].contains(httpStatus)
    else { return self }
    var error = self
    error.origin = .vendor
    return error
  }
}

/// Runs work and returns its error; `nil` if it succeeded.
private func failure(_ work: () async throws(SDKError) -> Void) async -> SDKError? {
  do throws(SDKError) {
    try await work()
    return nil
  } catch {
    return error
  }
}
