import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Sees to it that there is a connection when there should be one, and none when there should not.
  func keepConnection(of lane: Lane) {
    let isWanted =
      !isDeleted && (lane.machine.phase == .authenticated || lane.machine.phase == .anonymous)
      && lane.machine.standing == .usable && lane.machine.activity != .signingOut
      && adapter.keepsConnection(for: lane.identity)
    guard isWanted else {
      if lane.machine.activity != .signingOut { dropConnection(of: lane) }
      return
    }
    let subject = ConnectionKeeping.Subject(epoch: lane.machine.epoch, token: lane.identity.credential?.tokenId)
    if lane.connection.subject == subject {
      guard lane.connection.open == nil, !lane.connection.isOpening else { return }
      if let time = lane.connection.retryAt, time > now { return }
      guard lane.connection.retryAt != nil else { return }
    } else {
      dropConnection(of: lane)
      lane.connection.subject = subject
    }
    connect(lane)
  }

  /// Goes on with the connection on which the vendor accepted a user.
  func keep(_ connection: any RealtimeConnection, for lane: Lane) {
    dropConnection(of: lane)
    lane.connection.subject = .init(epoch: lane.machine.epoch, token: lane.identity.credential?.tokenId)
    lane.connection.number += 1
    opened(connection, on: lane)
  }

  /// Ends the connection, if there is one, and what would bring it back.
  func dropConnection(of lane: Lane) {
    let open = lane.connection.open
    let number = lane.connection.number
    lane.connection = ConnectionKeeping()
    lane.connection.number = number + 1
    if let open { environment.operations.start { await open.close() } }
  }

  private func connect(_ lane: Lane) {
    lane.connection.number += 1
    lane.connection.isOpening = true
    lane.connection.retryAt = nil
    let (adapter, identity, service, number) = (adapter, lane.identity, lane.service, lane.connection.number)
    environment.operations.startBackground {
      do throws(SDKError) {
        let connection = try await adapter.connect(identity)
        if await self.receive(connection, number: number, on: service) == false { await connection.close() }
      } catch {
        let isRefused = adapter.isRefusal(error)
        await self.connectionEnded(isRefused ? .refused(error) : .lost(error), number: number, on: service)
      }
    }
  }

  private func receive(_ connection: any RealtimeConnection, number: UInt64, on service: String?) -> Bool {
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
    await enter()
    defer { leave() }
    guard !isDeleted, let lane = lane(service), lane.connection.number == number else { return }
    switch news {
    case .connected:
      lane.connection.failures = 0
      lane.outageToldAt = nil
    case .merged(let merge, let user, let credential, let kindState):
      await merged(merge, user: user, credential: credential, kindState: kindState, on: lane)
    }
  }

  /// Another user of the vendor's survived a merge: from now on the instance speaks for that one.
  private func merged(
    _ merge: SignedIn.Merge, user: User, credential: Credential?, kindState: [String: Secret], on lane: Lane
  ) async {
    var record = lane.identity
    record.user = user
    if let credential { record.credential = credential }
    record.kindState = kindState
    var change = newChange()
    change.events.append(.init(.userMerged, service: lane.service, data: merge.data))
    do throws(SDKError) {
      let told = try await store(change, record: record, on: lane, raisedBy: 0).events
      publish()
      await environment.events.append(told)
    } catch {
      logger.error("A merge could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
    // The connection is about the former user.
    dropConnection(of: lane)
    keepConnection(of: lane)
  }

  private func connectionEnded(_ end: RealtimeEnd, number: UInt64, on service: String?) async {
    await enter()
    defer { leave() }
    guard !isDeleted, let lane = lane(service), lane.connection.number == number else { return }
    lane.connection.open = nil
    lane.connection.isOpening = false
    switch end {
    case .ended: lane.connection.retryAt = nil
    case .refused(let error):
      // Not tried again with this credential.
      lane.connection.retryAt = nil
      if lane.machine.phase == .anonymous {
        await take(.reported(means: .none), on: lane)
      } else {
        await take(.refused(error, means: means(lane)), on: lane)
      }
    case .lost(let error):
      lane.connection.failures += 1
      lane.connection.retryAt = now + lane.connection.pause(random: environment.clock.random())
      logger.debug("The realtime connection ended: \(error.message)")
      if lane.connection.failures > 1 { await announce(.networkError(error), on: lane) }
    }
    plan()
  }
}
