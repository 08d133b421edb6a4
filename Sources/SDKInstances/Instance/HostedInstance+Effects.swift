import Concurrency
import DelegateBridge
import JSONRPC
import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Begins an effect. Results of work are received later, with the epoch in which the work began.
  ///
  /// - Parameter unfinished: the error of cleanup that the step's commit has left to be done, which callers get.
  func begin(_ effect: Effect, of service: String?, unfinished: SDKError?) {
    switch effect {
    case .end(let activity, let outcome):
      outcomes.removeValue(forKey: activity)?.outcome.resolve(.success(unfinished.map { .failed($0) } ?? outcome))
    case .supersede(let activity, let error):
      outcomes.removeValue(forKey: activity)?.outcome.resolve(.failure(error))
    case .endDemand: demands.removeValue(forKey: service)?.end()
    case .resetBreaker: environment.bridge.reset(bridgeKey(service))
    case .rejectAnswer: environment.bridge.reject(bridgeKey(service))
    case .renewalEnded(let renewal): environment.onRenewal(renewal)
    case .release(let reservation): environment.renewals.release(reservation)
    case .log, .logConnection, .logAbandoned, .logDropped: log(effect, of: service)
    case .connect, .closeConnection, .adopt, .abandon: beginConnection(effect, of: service)
    case .deliver(let delivery): deliver(delivery)
    case .abandonLate(let delivery):
      environment.operations.start { await self.delivered(delivery, failure: Self.tooLate) }
    default:
      if let state = core[service] { beginWork(effect, of: state) }
    }
  }

  private static let tooLate = SDKError(
    .unreachable, .timeout, "The time to tell the vendor was over before it could be reached.")

  // MARK: Work at the vendor and the bridge

  private func beginWork(_ effect: Effect, of state: ServiceState) {
    let (epoch, adapter, identity, service) = (state.machine.epoch, core.adapter, state.identity, state.service)
    let start = environment.operations.start
    switch effect {
    case .follow(let input): start { await self.receive(input, on: service) }
    case .offer(let credential):
      start {
        await self.step(service) {
          $0.offered(credential, isProvided: true, epoch: epoch, on: service, $1)
        }
      }
    case .signIn(let credential):
      start {
        do throws(SDKError) {
          await self.signedIn(try await adapter.signIn(credential, from: identity), epoch: epoch, on: service)
        } catch {
          await self.receive(.signInFailed(epoch: epoch, error), on: service)
        }
      }
    case .createAnonymousUser:
      start {
        do throws(SDKError) {
          let result = try await adapter.capabilities.require(\.anonymousUsers).makeAnonymousUser(from: identity)
          await self.receive(.anonymousAccepted(epoch: epoch), on: service, with: result)
        } catch {
          await self.receive(.anonymousFailed(epoch: epoch, error), on: service)
        }
      }
    case .endFormer(let credential): end(credential, of: state, isFormer: true)
    case .endSession(let credential): end(credential, of: state, isFormer: false)
    case .renewItself:
      start {
        do throws(SDKError) {
          let result = try await adapter.capabilities.require(\.renewal).renewItself(identity)
          await self.renewed(result, byItself: true, epoch: epoch, on: service)
        } catch {
          await self.step(service) { $0.renewalFailed(error, epoch: epoch, on: service, $1) }
        }
      }
    case .verify(let offered, let isProvided):
      start {
        do throws(SDKError) {
          let result = try await adapter.renew(with: offered, of: identity)
          await self.renewed(result, byItself: false, epoch: epoch, on: service)
        } catch {
          await self.step(service) {
            $0.verificationFailed(error, of: offered, isProvided: isProvided, epoch: epoch, on: service, $1)
          }
        }
      }
    case .probe(let credential):
      start {
        let error = await Self.failure { () throws(SDKError) in try await adapter.probe(credential, of: identity) }
        await self.step(service) { $0.probed(error, epoch: epoch, on: service, $1) }
      }
    case .undo(let result, let isPresentUser): undo(result, isPresentUser: isPresentUser)
    case .ask(let question): ask(question, epoch: epoch, on: service)
    case .confirm(let question, let error): confirm(question, error, epoch: epoch, on: service)
    default: break
    }
  }

  /// Returns the error of work; `nil` for a success.
  static func failure(_ work: () async throws(SDKError) -> Void) async -> SDKError? {
    do throws(SDKError) {
      try await work()
      return nil
    } catch {
      return error
    }
  }

  private func receive(_ input: AuthenticationMachine.Input, on service: String?, with result: SignedIn? = nil) async {
    await step(service) { $0.received(input, on: service, with: result, $1) }
  }

  private func signedIn(_ result: SignedIn, epoch: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    let end = await follow(service) { $0.signedIn(result, epoch: epoch, on: service, $1) }
    guard !end.isTaken, let state = core[service] else { return }
    for effect in core.undo(result, of: state) { begin(effect, of: service, unfinished: nil) }
  }

  private func renewed(_ result: SignedIn, byItself: Bool, epoch: UInt64, on service: String?) async {
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

  private func end(_ credential: Credential?, of state: ServiceState, isFormer: Bool) {
    let (epoch, adapter, identity, service) = (state.machine.epoch, core.adapter, state.identity, state.service)
    let connection = connections[service]
    environment.operations.start {
      let error = await Self.failure { () throws(SDKError) in
        try await adapter.signOut(credential, of: identity, on: connection)
      }
      switch error {
      case nil:
        await self.receive(
          isFormer ? .formerEnded(epoch: epoch, informed: true) : .signOutAccepted(epoch: epoch), on: service)
      // The vendor's refusal counts as the end of a former user's session: the credential has no session to end.
      case let error? where isFormer && error.origin == .vendor:
        await self.receive(.formerEnded(epoch: epoch), on: service)
      case let error?:
        await self.receive(
          isFormer ? .formerEndFailed(epoch: epoch, error) : .signOutFailed(epoch: epoch, error), on: service)
      }
    }
  }

  private func undo(_ result: SignedIn, isPresentUser: Bool) {
    let adapter = core.adapter
    let late = IdentityRecord(
      phase: .authenticated, user: result.user, credential: result.credential, kindState: result.kindState)
    environment.operations.start { [logger] in
      if !isPresentUser {
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

  // MARK: The bridge

  /// Returns a function that sends a request to the bridge for as long as there is demand for the response. It returns
  /// `nil` when the demand has ended.
  func request(
    _ question: BridgeQuestion, on service: String?
  ) -> @Sendable () async -> Result<BridgeAnswer, SDKError>? {
    let demand = demands[service] ?? Need()
    demands[service] = demand
    let (bridge, key, provider) = (environment.bridge, bridgeKey(service), core.provider)
    let owner = core.definition.providerOwner
    return {
      await demand.run { () async -> Result<BridgeAnswer, SDKError> in
        do throws(SDKError) {
          return .success(try await bridge.ask(question, of: key, provider: provider, owner: owner))
        } catch {
          return .failure(error)
        }
      }
    }
  }

  private func ask(_ question: BridgeQuestion, epoch: UInt64, on service: String?) {
    let (request, askedAt) = (request(question, on: service), environment.clock.now())
    environment.operations.start {
      switch await request() {
      case nil: return
      case .success(let answer)?:
        await self.step(service) {
          $0.answered(answer, epoch: epoch, askedAt: askedAt, on: service, $1)
        }
      case .failure(let error)?:
        let isDenied = error.reason == .providerDenied
        await self.receive(.answered(epoch: epoch, isDenied ? .denied(error) : .failed(error)), on: service)
      }
    }
  }

  private func confirm(_ question: BridgeQuestion, _ error: SDKError, epoch: UInt64, on service: String?) {
    let request = request(question, on: service)
    environment.operations.start {
      let confirmation: AuthenticationMachine.Confirmation
      switch await request() {
      case nil: return
      case .success(let answer)?: confirmation = answer.proceed == true ? .proceed : .declined(error)
      case .failure(let failure)?:
        confirmation = failure.reason == .providerDenied ? .declined(failure) : .failed(failure)
      }
      await self.receive(.confirmed(epoch: epoch, confirmation), on: service)
    }
  }

  // MARK: Deliveries

  private func deliver(_ delivery: Delivery) {
    let adapter = core.adapter
    environment.operations.startBackground {
      let error = await Self.failure { () throws(SDKError) in
        try await adapter.capabilities.require(\.cleanup).deliver(delivery)
      }
      await self.delivered(delivery, failure: error)
    }
  }

  private func delivered(_ delivery: Delivery, failure: SDKError?) async {
    await changing.lock()
    defer { changing.unlock() }
    if failure == nil { await follow(delivery.service) { $0.sessionEnded(by: delivery, $1) } }
    await follow(delivery.service) { $0.delivered(delivery, failure: failure, $1) }
  }

  // MARK: Connections

  private func beginConnection(_ effect: Effect, of service: String?) {
    switch effect {
    case .connect(let number):
      guard let identity = core[service]?.identity else { return }
      let adapter = core.adapter
      environment.operations.startBackground {
        do throws(SDKError) {
          let connection = try await adapter.capabilities.require(\.connection).connect(identity)
          await self.connected(connection, number: number, on: service)
        } catch {
          let isRefused = adapter.isRefusal(error)
          await self.connectionEnded(isRefused ? .refused(error) : .lost(error), number: number, on: service)
        }
      }
    case .closeConnection:
      guard let open = connections.removeValue(forKey: service) else { return }
      environment.operations.start { await open.close() }
    case .adopt(let connection, let number):
      connections[service] = connection
      environment.operations.startBackground {
        let end = await connection.run { news in await self.hear(news, number: number, on: service) }
        await connection.close()
        await self.connectionEnded(end, number: number, on: service)
      }
    case .abandon(let connection): environment.operations.startBackground { await connection.close() }
    default: break
    }
  }

  private func connected(_ connection: any RealtimeConnection, number: UInt64, on service: String?) async {
    await step(service) { core, _ in core.connected(connection, number: number, on: service) }
  }

  /// Not inlined: a merge has a large frame, for which each connection's task would reserve memory.
  @inline(never)
  private func hear(_ news: RealtimeNews, number: UInt64, on service: String?) async {
    await step(service) { $0.heard(news, number: number, on: service, $1) }
  }

  private func connectionEnded(_ end: RealtimeEnd, number: UInt64, on service: String?) async {
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

  // MARK: The journal

  private func log(_ effect: Effect, of service: String?) {
    switch effect {
    case .log(let notice, let tokenId):
      var metadata = Self.metadata(notice.type)
      if let service { metadata["service"] = "\(service)" }
      if let reason = notice.failure?.reason { metadata["reason"] = "\(reason)" }
      if let tokenId { metadata["tokenId"] = "\(tokenId)" }
      logger.log(level: notice.failure == nil ? .info : .warning, "\(notice.sentence)", metadata: metadata)
    case .logConnection(let error, isRefused: true):
      logger.warning(
        "The vendor refuses the realtime connection again: \(error.message)", metadata: ["reason": "\(error.reason)"])
    case .logConnection(let error, isRefused: false):
      logger.debug("The realtime connection ended: \(error.message)")
    case .logAbandoned(let delivery, let error):
      logger.warning(
        "The vendor could not be told (\(delivery.purpose)); this is given up: \(error.message)",
        metadata: ["reason": "\(error.reason)"])
    case .logDropped(let deliveries):
      for delivery in deliveries {
        logger.warning(
          "The vendor is not told any more (\(delivery.purpose)): newer deliveries have taken the last of the room.")
      }
    default: break
    }
  }

  private static func metadata(_ type: EventType) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["event": "\(type.rawValue)"]
    if let message = JournalMessage(type) { metadata["messageID"] = "\(message.id)" }
    return metadata
  }

  /// Emits an event that changes no state of the instance, such as a breaker that opened.
  func announce(_ type: EventType) async {
    await step(nil) { core, _ in
      core.isDeleted ? Step() : Step(change: core.unconditionalChange(events: [.init(type)]))
    }
  }

  /// Logs and emits that the bridge's breaker has opened or closed.
  public func breakerChanged(isOpen: Bool) async {
    let type = isOpen ? EventType.breakerOpened : .breakerClosed
    logger.log(
      level: isOpen ? .warning : .info,
      isOpen ? "The token provider fails; it is left alone for a while." : "The token provider answers again.",
      metadata: Self.metadata(type))
    await announce(type)
  }
}
