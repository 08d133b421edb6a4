import Concurrency
import DelegateBridge
import Logging
import SDKProtocol
import StateStore

extension InstanceActor {
  /// Begins an effect.
  ///
  /// - Parameter unfinished: the error of cleanup that the step's commit has left to be done, which callers get.
  func begin(_ effect: Effect, of service: String?, unfinished: SDKError?) {
    switch effect {
    case .end(let activity, let outcome):
      outcomes.removeValue(forKey: activity)?.resolve(.success(unfinished.map { .failed($0) } ?? outcome))
    case .supersede(let activity, let error):
      outcomes.removeValue(forKey: activity)?.resolve(.failure(error))
    case .endDemand: demands.removeValue(forKey: service)?.end()
    case .resetBreaker: environment.bridge.reset(bridgeKey(service))
    case .judgeAnswer(let isUsable): judgeAnswer(isUsable: isUsable, of: service)
    case .renewalEnded(let renewal): environment.onRenewal(renewal)
    case .release(let reservation): environment.renewals.release(reservation)
    case .log, .logConnection, .logAbandoned, .logDropped: effect.log(to: logger, of: service)
    case .distrustClock: vendorClock.disprove()
    case .restorePushes: environment.operations.startBackground { await self.restorePush(on: service) }
    case .abandon(let connection): environment.operations.startBackground { await connection.close() }
    case .closeConnection:
      guard let open = connections.removeValue(forKey: service) else { return }
      environment.operations.startBackground { await open.close() }
    case .listen(let connection, let number):
      connections[service] = connection
      environment.operations.startBackground {
        await ServiceWork.listen(to: connection, number: number, on: service, of: self)
      }
    case .deliver(let delivery):
      let work = DeliveryWork(
        instance: self, adapter: core.adapter, delivery: delivery,
        end: beginSessionEnd(of: core.sessionKeys(endedBy: delivery)))
      // A stop waits for a request that ends a session.
      if delivery.endsSession {
        environment.operations.start { await work.deliver() }
      } else {
        environment.operations.startBackground { await work.deliver() }
      }
    case .abandonLate(let delivery):
      let work = DeliveryWork(instance: self, adapter: core.adapter, delivery: delivery)
      environment.operations.start { await work.abandonLate() }
    case .undoAtVendor(let result, let logsOut):
      let work = UndoWork(instance: self, adapter: result.origin?.adapter ?? core.adapter, service: service)
      startLogin(on: service) { await work.undo(result, logsOut: logsOut) }
    default:
      guard let state = core[service] else { return }
      beginWork(effect, ServiceWork(instance: self, adapter: core.adapter, state: state))
    }
  }

  private func beginWork(_ effect: Effect, _ work: ServiceWork) {
    let (operations, service) = (environment.operations, work.service)
    switch effect {
    case .connect(let number):
      let end = beginOpening(on: service)
      operations.startBackground {
        defer { end.resolve(.success(())) }
        await work.connect(number: number)
      }
    case .ask(let question):
      let (request, askedAt) = (request(question, on: service), environment.clock.now())
      operations.start { await work.ask(request, askedAt: askedAt) }
    case .confirm(let question, let error):
      let request = request(question, on: service)
      operations.start { await work.confirm(request, error) }
    case .feedBack(let input): operations.start { await work.receive(input) }
    case .offer(let credential): operations.start { await work.offer(credential) }
    case .signIn(let credential): startLogin(on: service) { await work.signIn(credential) }
    case .createAnonymousUser: startLogin(on: service) { await work.createAnonymousUser() }
    case .endFormer(let credential):
      let earlier = sessionEnds(of: service)
      let end = beginSessionEnd(of: core.sessionKeys(of: service))
      startLogin(on: service) {
        defer { end?.resolve(.success(())) }
        await work.endFormer(credential, after: earlier)
      }
    case .endSession(let credential, let kindState):
      let earlier = sessionEnds(of: service)
      operations.start { await work.endSession(credential, kindState: kindState, after: earlier) }
    case .renewItself: operations.start { await work.renewItself() }
    case .verify(let offered, let isProvided):
      let end = beginOpening(on: service)
      operations.start {
        defer { end.resolve(.success(())) }
        await work.verify(offered, isProvided: isProvided)
      }
    case .probe(let credential): operations.start { await work.probe(credential) }
    // No work of a service, so that `begin` has begun it. Listed, so that the compiler asks where a new effect begins.
    case .end, .supersede, .endDemand, .resetBreaker, .judgeAnswer, .log, .logAbandoned, .logDropped, .logConnection,
      .renewalEnded, .release, .undoAtVendor, .closeConnection, .listen, .abandon, .distrustClock, .restorePushes,
      .deliver, .abandonLate:
      break
    }
  }

  // MARK: The bridge

  /// A request to the bridge that lasts as long as there is demand for the response. It returns `nil` when the demand
  /// has ended, or the drain has begun.
  typealias Request = @Sendable () async -> Result<BridgeAnswer, SDKError>?

  /// Returns a function that sends a request to the bridge.
  private func request(_ question: BridgeQuestion, on service: String?) -> Request {
    let demand = demands[service] ?? Need()
    demands[service] = demand
    let (bridge, key, provider) = (environment.bridge, bridgeKey(service), core.provider)
    let (owner, drain) = (core.definition.providerOwner, environment.operations.drain)
    return {
      try? await drain.repeatable {
        await demand.run { () async -> Result<BridgeAnswer, SDKError> in
          do throws(SDKError) {
            return .success(try await bridge.ask(question, of: key, provider: provider, owner: owner))
          } catch {
            return .failure(error)
          }
        }
      }
    }
  }

  /// Tells the bridge whether the last response for a service could be used. One that could not counts as failed.
  nonisolated func judgeAnswer(isUsable: Bool, of service: String?) {
    let key = bridgeKey(service)
    if isUsable { environment.bridge.accept(key) } else { environment.bridge.reject(key) }
  }

  /// A request to the owner for the data of a login.
  struct OwnerRequest: Sendable {
    let name: BridgeQuestion.Name
    /// The epoch of the service when the request began.
    let epoch: UInt64
    let answer = Promise<BridgeAnswer>()
  }

  /// Requests the data for a login from the owner. Changes no state. Callers with the same request share one.
  func requestToOwner(_ name: BridgeQuestion.Name, on service: String?) throws(SDKError) -> OwnerRequest {
    let epoch = try core.existing(service).machine.epoch
    if let known = ownerRequests[service], known.name == name, known.epoch == epoch, known.answer.result == nil {
      return known
    }
    let question = BridgeQuestion(
      name, instance: id, kind: kind, service: service,
      deadline: environment.clock.now() + core.adapter.traits.common.deadline)
    let (new, request, superseded, drain) = (
      OwnerRequest(name: name, epoch: epoch), request(question, on: service), core.superseded,
      environment.operations.drain
    )
    ownerRequests[service] = new
    environment.operations.start {
      let response = await request().map { $0.mapError { $0 as any Error } }
      new.answer.resolve(response ?? .failure(drain.hasBegun ? SDKError.shuttingDown : superseded))
    }
    return new
  }

  /// Registers a request that may open a realtime connection. The caller resolves the promise at its end.
  private func beginOpening(on service: String?) -> Promise<Void> {
    openings.removeAll { $0.end.result != nil }
    let end = Promise<Void>()
    openings.append((service, end))
    return end
  }

  /// Returns the open connection of a service for its logout, after the requests that open one. They may bring the user
  /// online, so the logout must follow them.
  func connectionToLeave(_ service: String?) async -> (any RealtimeConnection)? {
    if core.adapter.capabilities.connection != nil {
      let limit = WaitLimit(core.adapter.traits.common.timeout)
      for opening in openings where opening.service == service {
        try? await opening.end.value(within: limit.left, of: id, lacking: "The connection has not opened")
      }
    }
    return connections[service]
  }

  // MARK: Results that take several steps

  /// Registers the user's devices at the vendor again after a late request for another user, which may have replaced
  /// the registration. If the user changes meanwhile, the registration made for the former user is removed.
  func restorePush(on service: String?) async {
    guard let registrar = core.adapter.capabilities.push, registrar.pushRules.overwrites else { return }
    for _ in 0..<Self.restorations {
      guard !core.isDeleted, let state = core[service], state.machine.mayHandOut, !state.machine.isChangingUser else {
        return
      }
      for push in core.ownPushes(of: service) {
        do throws(SDKError) {
          _ = try await registrar.register(push, of: state.identity, on: connections[service])
          guard core[service]?.machine.epoch != state.machine.epoch else { continue }
          try await registrar.unregister(push, of: state.identity, on: nil)
        } catch {
          logger.warning(
            "A push registration could not be restored at the vendor; register it again: \(error.message)",
            metadata: ["reason": "\(error.reason)"])
        }
      }
      guard core[service]?.machine.epoch != state.machine.epoch else { return }
    }
  }

  /// The number of attempts to restore registrations while the user keeps changing.
  private static let restorations = 3

  func renewed(_ result: SignedIn, byItself: Bool, epoch: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard let failure = result.failure, !core.isDeleted, core[service]?.machine.epoch == epoch else {
      let end = await follow(service) { $0.renewed(result, byItself: byItself, epoch: epoch, on: service, $1) }
      if !end.isTaken { await follow(service) { core, _ in core.lost(result, of: service) } }
      return
    }
    let unstored = await follow(service) { core, _ in core.keep(result, of: service) }.error
    if unstored != nil { await follow(service) { core, _ in core.lost(result, of: service) } }
    let error = unstored ?? failure
    await follow(service) {
      $0.received(
        byItself ? .itselfFailed(epoch: epoch, error) : .verificationFailed(epoch: epoch, error), on: service, $1)
    }
  }

  /// Records an attempt to make a delivery.
  ///
  /// - Parameter details: the delivery's details after the attempt.
  /// - Returns: whether it may have ended the push registrations of the present user.
  @discardableResult
  func delivered(_ delivery: Delivery, leaving details: [String: Secret], failure: SDKError?) async -> Bool {
    await changing.lock()
    defer { changing.unlock() }
    let mayEndPushes = failure == nil && core.mayEndPushes(delivery)
    if failure == nil { await follow(delivery.service) { $0.sessionEnded(by: delivery, $1) } }
    await follow(delivery.service) { $0.delivered(delivery, leaving: details, failure: failure, $1) }
    return mayEndPushes
  }

  func connectionEnded(_ end: RealtimeEnd, number: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    var isPresent = false
    await follow(service) {
      isPresent = $0.noteConnectionEnd(end, number: number, on: service, $1)
      return Step()
    }
    guard isPresent else { return }
    connections[service] = nil
    await follow(service) { $0.connectionEnded(end, on: service, $1) }
  }

  // MARK: The first probe

  /// Begins the probe of a credential that was stored before this process started, so that a revoked credential is not
  /// issued. Concurrent callers share one probe.
  ///
  /// - Returns: the promise of the probe's end; `nil` if no probe is needed.
  func firstProbe(on service: String?) async throws -> Promise<Void>? {
    await changing.lock()
    defer { changing.unlock() }
    let state = try core.existing(service)
    if let running = verifications[service] { return running }
    guard !state.isVerified, state.machine.activity == .idle, core.isUsable(state, context(of: service)),
      let credential = state.identity.credential
    else { return nil }
    let end = Promise<Void>()
    verifications[service] = end
    let work = ServiceWork(instance: self, adapter: core.adapter, state: state)
    environment.operations.start {
      end.resolve(await work.probeFirst(credential) ? .success(()) : .failure(SDKError.shuttingDown))
    }
    return end
  }

  func verified(
    _ credential: Credential, epoch: UInt64, _ error: SDKError?, learned: LearnedUser? = nil, on service: String?
  ) async {
    await changing.lock()
    defer { changing.unlock() }
    verifications[service] = nil
    await follow(service) { $0.verified(credential, epoch: epoch, error, learned: learned, on: service, $1) }
  }
}
