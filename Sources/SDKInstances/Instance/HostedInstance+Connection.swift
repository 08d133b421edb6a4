import Concurrency
import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Opens a connection that is wanted and due. Drops one that is not wanted, except while a logout is at the vendor.
  func keepConnection(of lane: Lane) {
    let isWanted =
      !isDeleted && (lane.machine.phase == .authenticated || lane.machine.phase == .anonymous)
      && lane.machine.standing == .usable && lane.machine.activity != .signingOut
      && keepsConnection(lane)
    guard isWanted else {
      if lane.machine.activity != .signingOut { dropConnection(of: lane) }
      return
    }
    let subject = ConnectionKeeping.Subject(lane.identity)
    if lane.connection.subject == subject {
      guard lane.connection.open == nil, !lane.connection.isOpening else { return }
      if let time = lane.connection.retryAt, time > now { return }
      guard lane.connection.retryAt != nil else { return }
    } else {
      dropConnection(of: lane)
      lane.connection.subject = subject
    }
    guard lane.connection.refused != subject else { return }
    connect(lane)
  }

  /// Brings the retry of a lost connection forward, because an app opens a session.
  func hastenConnection(of service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service), lane.connection.retryAt != nil else { return }
    lane.connection.hasten(now)
    keepConnection(of: lane)
    plan()
  }

  /// Returns the time of the next attempt to connect; `nil` when none is planned.
  func nextConnection(_ lane: Lane) -> Timestamp? {
    // The outcome of the logout decides whether a connection is still wanted.
    lane.machine.activity == .signingOut ? nil : lane.connection.retryAt
  }

  /// Adopts the connection on which the vendor accepted a user, in place of the present one.
  func keep(_ connection: any RealtimeConnection, for lane: Lane) {
    dropConnection(of: lane)
    lane.connection.subject = .init(lane.identity)
    lane.connection.number += 1
    lane.connection.connectedAt = now
    opened(connection, on: lane)
  }

  /// Closes the connection, if there is one, and cancels its retry.
  func dropConnection(of lane: Lane) {
    let open = lane.connection.open
    lane.connection.drop()
    if let open { environment.operations.start { await open.close() } }
  }

  /// Whether a connection is kept for a lane's identity.
  func keepsConnection(_ lane: Lane) -> Bool {
    adapter.capabilities.connection?.keepsConnection(for: lane.identity) ?? false
  }

  private func connect(_ lane: Lane) {
    lane.connection.number += 1
    lane.connection.isOpening = true
    lane.connection.retryAt = nil
    lane.connection.triedAt = now
    let (adapter, identity, service, number) = (adapter, lane.identity, lane.service, lane.connection.number)
    environment.operations.startBackground {
      do throws(SDKError) {
        let connection = try await adapter.capabilities.require(\.connection).connect(identity)
        if await self.receive(connection, number: number, on: service) == false { await connection.close() }
      } catch {
        let isRefused = adapter.isRefusal(error)
        await self.connectionEnded(isRefused ? .refused(error) : .lost(error), number: number, on: service)
      }
    }
  }

  private func receive(_ connection: any RealtimeConnection, number: UInt64, on service: String?) async -> Bool {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service), lane.connection.number == number else { return false }
    opened(connection, on: lane)
    return true
  }

  private func opened(_ connection: any RealtimeConnection, on lane: Lane) {
    lane.connection.open = connection
    lane.connection.isOpening = false
    lane.connection.retryAt = nil
    let (service, number) = (lane.service, lane.connection.number)
    environment.operations.startBackground {
      let end = await connection.run { news in await self.hear(news, number: number, on: service) }
      await connection.close()
      await self.connectionEnded(end, number: number, on: service)
    }
  }

  private func hear(_ news: RealtimeNews, number: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service), lane.connection.number == number else { return }
    switch news {
    case .connected:
      lane.connection.connectedAt = now
      lane.connection.refused = nil
      lane.connection.isRefusalFollowedUp = false
    case .settled: lane.connection.failures = 0
    case .learned, .merged, .mergedAway: await follow(news, on: lane)
    }
  }

  /// Applies news that changes the identity. Not inlined: a merge has a large frame, for which each connection's task
  /// would reserve memory.
  @inline(never)
  private func follow(_ news: RealtimeNews, on lane: Lane) async {
    switch news {
    case .connected, .settled: break
    case .learned(let state, let credential): await learned(state, credential: credential, on: lane)
    case .merged(let merge, let user, let credential, let kindState):
      let survivor = SignedIn(
        user: user, credential: credential ?? lane.identity.credential, kindState: kindState, merge: merge)
      await take(.merged, on: lane, with: survivor)
    case .mergedAway(let merge):
      await take(.mergedAway, on: lane, with: SignedIn(user: .none, credential: nil, merge: merge))
    }
  }

  private func learned(_ state: [String: Secret], credential: Credential?, on lane: Lane) async {
    var record = lane.identity
    record.kindState.merge(state) { _, new in new }
    if let credential { record.credential = credential }
    guard record != lane.identity else { return }
    do throws(SDKError) {
      _ = try await store(newChange(), record: record, on: lane, raisedBy: 0)
      lane.connection.subject = .init(record)
      publish()
    } catch {
      logger.error(
        "What the vendor said could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
  }

  private func connectionEnded(_ end: RealtimeEnd, number: UInt64, on service: String?) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(service), lane.connection.number == number else { return }
    lane.connection.open = nil
    lane.connection.isOpening = false
    lane.connection.retryAt = nil
    switch end {
    case .ended: break
    case .refused(let error): await connectionRefused(error, on: lane)
    case .lost(let error): await connectionLost(error, on: lane)
    }
    lane.connection.connectedAt = nil
    plan()
  }

  /// Follows up the vendor's refusal of the credential, at most once until the vendor accepts a connection. A vendor
  /// may refuse every fresh credential here but accept it elsewhere, and requests for new ones would never end.
  private func connectionRefused(_ error: SDKError, on lane: Lane) async {
    lane.connection.refused = lane.connection.subject
    guard !lane.connection.isRefusalFollowedUp else {
      logger.warning(
        "The vendor refuses the realtime connection again: \(error.message)", metadata: ["reason": "\(error.reason)"])
      return
    }
    lane.connection.isRefusalFollowedUp = true
    if lane.machine.phase == .anonymous {
      await take(.reported(error, means: .none), on: lane)
    } else {
      await take(.refused(error, means: means(lane)), on: lane)
    }
  }

  private func connectionLost(_ error: SDKError, on lane: Lane) async {
    if let since = lane.connection.connectedAt, now - since >= ConnectionKeeping.settled {
      lane.connection.failures = 0
      lane.outageToldAt = nil
    }
    lane.connection.failures += 1
    let pause = lane.connection.pause(random: environment.clock.random())
    let wish = error.retryAfter.map { now + min($0, ConnectionKeeping.longestPause) }
    lane.connection.heldUntil = wish
    lane.connection.retryAt = max(now + pause, wish ?? now)
    logger.debug("The realtime connection ended: \(error.message)")
    // A single lost connection is not reported. A message that could not be read is, because its content is lost.
    if lane.connection.failures > 1 || error.reason == .badResponse { await announce(.networkError(error), on: lane) }
  }
}
