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
  private let activity: RunningActivity?
  let service: String?

  /// Creates the work for a service in its present state.
  init(instance: InstanceActor, adapter: any SDKAdapter, state: ServiceState) {
    self.instance = instance
    self.adapter = adapter
    identity = state.identity
    epoch = state.machine.epoch
    activity = state.running
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

  // MARK: The drain

  private typealias Request<Value> = @Sendable @concurrent () async throws(SDKError) -> Value

  /// Waits for the response to a request of the activity that the next daemon can send again.
  ///
  /// - Returns: the result; `nil` when the drain has begun, which the callers of the activity then know.
  private func repeatable<Value: Sendable>(
    _ request: @escaping Request<Value>
  ) async -> Result<Value, SDKError>? {
    if let result = try? await instance.environment.operations.drain.repeatable({ await outcome(of: request) }) {
      return result
    }
    await instance.giveBack(activity?.id)
    return nil
  }

  // MARK: Logins and logouts

  func signIn(_ credential: CheckedCredential) async {
    var credential = credential
    credential.mayHaveEnded = await instance.awaitSessionEnds(of: credential)
    // The end of a session may have wiped the identity.
    let present = await instance.core[service]
    let identity = present?.machine.epoch == epoch ? present?.identity ?? identity : identity
    do throws(SDKError) {
      let result = originating(try await adapter.signIn(credential, from: identity))
      await instance.step(service) { $0.signedIn(result, epoch: epoch, on: service, $1) }
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
  ///
  /// - Parameter earlier: the requests in progress that end the same session.
  func endSession(_ credential: Credential?, kindState: [String: Secret], after earlier: [SessionEnd]) async {
    var identity = identity
    identity.kindState = kindState
    let error = await signOutFailure(credential, of: identity, after: earlier)
    await receive(error.map { .signOutFailed(epoch: epoch, $0) } ?? .signOutAccepted(epoch: epoch))
  }

  /// Ends the session of the former user before another one's login, and reports the outcome to the instance.
  func endFormer(_ credential: Credential?, after earlier: [SessionEnd]) async {
    switch await signOutFailure(credential, of: identity, after: earlier) {
    case nil: await instance.step(service) { $0.formerEnded(credential, epoch: epoch, on: service, $1) }
    // The vendor's refusal counts as the end of the session: the credential has no session to end.
    case let error? where error.origin == .vendor: await receive(.formerEnded(epoch: epoch))
    case let error?: await receive(.formerEndFailed(epoch: epoch, error))
    }
  }

  private func signOutFailure(
    _ credential: Credential?, of identity: IdentityRecord, after earlier: [SessionEnd]
  ) async -> SDKError? {
    let connection = await instance.connectionToLeave(service)
    let error = await failure { () throws(SDKError) in
      try await adapter.signOut(credential, of: identity, on: connection)
    }?.refusingIfClientError
    // An earlier request, which may have closed the connection, can have ended the session.
    guard error != nil, !earlier.isEmpty else { return error }
    await instance.wait(for: earlier)
    let present = await instance.core[service]?.machine
    return present?.epoch == epoch && present?.standing == AuthenticationMachine.Standing.none ? nil : error
  }

  // MARK: Renewals and probes

  func offer(_ credential: CheckedCredential) async {
    await instance.step(service) { $0.offered(credential, isProvided: true, epoch: epoch, on: service, $1) }
  }

  func renewItself() async {
    let renewal: Request<SignedIn> = { () throws(SDKError) in
      try await adapter.capabilities.require(\.renewal).renewItself(identity)
    }
    // The note that a credential is being spent is stored already.
    switch await spends(identity) ? outcome(of: renewal) : repeatable(renewal) {
    case nil: return
    case .success(let result)?:
      await instance.renewed(originating(result), byItself: true, epoch: epoch, on: service)
    case .failure(let error)?:
      await instance.step(service) { $0.renewalFailed(error, epoch: epoch, on: service, $1) }
    }
  }

  /// Whether a renewal uses up a credential, such as a rotating refresh token.
  private func spends(_ identity: IdentityRecord) -> Bool { adapter.capabilities.renewal?.spends(identity) ?? false }

  func verify(_ offered: CheckedCredential, isProvided: Bool) async {
    _ = await instance.awaitSessionEnds(of: offered)
    let request: Request<SignedIn> = { () throws(SDKError) in try await adapter.renew(with: offered, of: identity) }
    // A credential that was provided in advance is not stored, and the owner's may be one that can be used once.
    var next = identity
    next.kindState = offered.details
    switch await isProvided || spends(next) ? outcome(of: request) : repeatable(request) {
    case nil: return
    case .success(let result)?:
      if !isProvided { instance.judgeAnswer(isUsable: true, of: service) }
      await instance.renewed(originating(result), byItself: false, epoch: epoch, on: service)
    case .failure(let error)?:
      // Neither a vendor that can't be reached nor its refusal is a failure of the provider.
      if !isProvided { instance.judgeAnswer(isUsable: error.origin != .provider, of: service) }
      await instance.step(service) {
        $0.verificationFailed(error, of: offered, isProvided: isProvided, epoch: epoch, on: service, $1)
      }
    }
  }

  func probe(_ credential: Credential) async {
    switch await repeatable({ () throws(SDKError) in try await adapter.probe(credential, of: identity) }) {
    case nil: return
    case .success?: await instance.step(service) { $0.probed(nil, epoch: epoch, on: service, $1) }
    case .failure(let error)?: await instance.step(service) { $0.probed(error, epoch: epoch, on: service, $1) }
    }
  }

  /// Probes a credential that was stored before this process started. Returns `false` when the drain has begun before
  /// the vendor answered.
  func probeFirst(_ credential: Credential) async -> Bool {
    switch await repeatable({ () throws(SDKError) in try await adapter.probe(credential, of: identity) }) {
    case nil: return false
    case .success(let learned)?:
      await instance.verified(credential, epoch: epoch, nil, learned: learned, on: service)
    case .failure(let error)?: await instance.verified(credential, epoch: epoch, error, on: service)
    }
    return true
  }

  // MARK: The bridge

  func ask(_ request: InstanceActor.Request, askedAt: Timestamp) async {
    switch await request() {
    case nil: await unanswered()
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
    case nil: return await instance.giveBack(activity?.id)
    case .success(let answer)?:
      instance.judgeAnswer(isUsable: true, of: service)
      confirmation = answer.proceed == true ? .proceed : .declined(error)
    case .failure(let failure)?:
      confirmation = failure.reason == .providerDenied ? .declined(failure) : .failed(failure)
    }
    await receive(.confirmed(epoch: epoch, confirmation))
  }

  /// Handles the lack of a credential, because there is no demand for it any more or the drain has begun. An accepted
  /// logout, whose outcome is an event, continues without the response.
  private func unanswered() async {
    guard activity?.operation != nil else { return await instance.giveBack(activity?.id) }
    await receive(.answered(epoch: epoch, .failed(.shuttingDown)))
  }

  // MARK: Connections

  func connect(number: UInt64) async {
    let request: Request<any RealtimeConnection> = { () throws(SDKError) in
      try await adapter.capabilities.require(\.connection).connect(identity)
    }
    // The next daemon connects. A logout in progress waits for this request.
    guard let result = try? await instance.environment.operations.drain.repeatable({ await outcome(of: request) })
    else { return }
    do throws(SDKError) {
      let connection = try result.get()
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

/// Work at the vendor that undoes a login, or the creation of an anonymous user, which is not used. Unlike other work it
/// needs no service: a changed definition may have removed that.
struct UndoWork: Sendable {
  let instance: InstanceActor
  /// The adapter that made the login.
  let adapter: any SDKAdapter
  let service: String?

  /// Logs the user out and closes the connection. If the vendor can't be reached, the instance adds cleanup deliveries
  /// instead.
  func undo(_ result: SignedIn, logsOut: Bool) async {
    let unused = IdentityRecord(
      phase: .authenticated, user: result.user, credential: result.credential, kindState: result.kindState)
    if logsOut, let end = await instance.beginUndo(of: unused, from: result.origin) {
      defer { end.resolve(.success(())) }
      do throws(SDKError) {
        try await adapter.signOut(result.credential, of: unused, on: result.connection)
        instance.logger.notice("A login that is not used was undone at the vendor.")
      } catch {
        instance.logger.warning("A login that is not used could not be undone at the vendor: \(error.message)")
        if error.refusingIfClientError.origin == .unreachable {
          await instance.step(service) { $0.leaveCleanup(of: unused, from: result.origin, on: service, $1) }
        }
      }
    }
    await result.connection?.close()
    await instance.restorePush(on: service)
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
    guard let (details, error) = await attempt() else {
      end?.resolve(.success(()))
      return
    }
    let mayEndPushes = await instance.delivered(delivery, leaving: details, failure: error)
    // Before the wait below, because a login of the same user waits for it.
    end?.resolve(.success(()))
    guard mayEndPushes else { return }
    // The vendor may have dropped the present user's devices.
    if let login = try? await instance.running(on: delivery.service, { $0.machine.isChangingUser }) {
      _ = try? await login.value()
    }
    await instance.restorePush(on: delivery.service)
  }

  /// Makes an attempt. One that ends a user's session runs to its end when the drain begins, because a login of that
  /// user may follow. Others are left to the next daemon.
  ///
  /// - Returns: the delivery's details after the attempt, and its error; `nil` when the drain has begun.
  private func attempt() async -> (details: [String: Secret], error: SDKError?)? {
    let request = { @Sendable [adapter, delivery] in
      var attempted = delivery
      let error = await failure { () throws(SDKError) in
        try await adapter.capabilities.require(\.cleanup).deliver(&attempted)
      }
      return (attempted.details, error)
    }
    let drain = instance.environment.operations.drain
    guard delivery.endsSession else { return try? await drain.repeatable { await request() } }
    guard !drain.hasBegun else { return nil }
    return await request()
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
  if case .failure(let error) = await outcome(of: work) { error } else { nil }
}

/// Runs work and returns its result.
private func outcome<Value>(of work: () async throws(SDKError) -> Value) async -> Result<Value, SDKError> {
  do throws(SDKError) {
    return .success(try await work())
  } catch {
    return .failure(error)
  }
}
