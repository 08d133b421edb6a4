internal import Glibc
internal import JSONRPC
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The run of a listener: accepts connections and owns the tasks that wait for their ends.
final class ServerRun: Sendable {
  private struct Contents {
    var settings: ConnectionSettings
    var connections: [UInt64: Connection] = [:]
    var channel: (any Channel)?
    var graces: [Scheduled<Void>] = []
    var isDraining = false
    var isCutOff = false
    /// The functions that set up or refuse the connections whose admission is being decided, by their numbers.
    var pending: [UInt64: @Sendable (ConnectionAdmission) -> Void] = [:]
    var lastPending: UInt64 = 0
  }

  private let group: MultiThreadedEventLoopGroup
  private let admit: Listener.Admission
  private let makeHandler: Listener.MakeHandler
  private let state: Mutex<Contents>
  private let refused = RefusalHandler.Count()
  private let accepted: AsyncStream<Connection>
  private let acceptedContinuation: AsyncStream<Connection>.Continuation
  private let drainStarted: AsyncStream<Void>
  private let drainContinuation: AsyncStream<Void>.Continuation

  init(
    group: MultiThreadedEventLoopGroup, settings: ConnectionSettings, admit: @escaping Listener.Admission,
    makeHandler: @escaping Listener.MakeHandler
  ) {
    self.group = group
    state = Mutex(Contents(settings: settings))
    self.admit = admit
    self.makeHandler = makeHandler
    (accepted, acceptedContinuation) = AsyncStream.makeStream()
    (drainStarted, drainContinuation) = AsyncStream.makeStream()
  }

  func serve(_ descriptor: CInt, _ file: SocketFile?) async throws {
    let channel: any Channel
    do {
      channel = try await makeBootstrap(backlog: file == nil ? .max : ListeningSocket.backlog).withBoundSocket(
        descriptor
      ).get()
    } catch {
      file?.remove()
      throw error
    }
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await _ in self.drainStarted { break }
        await self.stopAccepting(channel, file)
      }
      for await connection in accepted {
        group.addTask {
          await connection.closed()
          self.state.withLock { $0.connections[connection.id] = nil }
        }
      }
    }
    let graces = state.withLock { $0.graces }
    for grace in graces { grace.cancel() }
  }

  /// The open connections.
  var connections: [Connection] { state.withLock { Array($0.connections.values) } }

  /// The longest time for which the end of accepting waits for pending admissions. The others are then refused with
  /// `shuttingDown`.
  private static let patience = Duration.milliseconds(250)

  /// Replaces the limits of open and future connections.
  func use(_ limits: TransportLimits) {
    let connections = state.withLock { state in
      state.settings.limits = limits
      return Array(state.connections.values)
    }
    for connection in connections { connection.use(limits) }
  }

  func drain(grace: Duration) {
    let connections = state.withLock { state in
      state.isDraining = true
      return Array(state.connections.values)
    }
    drainContinuation.finish()
    for connection in connections { connection.drain() }
    guard grace > .zero else { return cutOff() }
    let scheduled = group.next().scheduleTask(in: TimeAmount(grace)) { self.cutOff() }
    state.withLock { $0.graces.append(scheduled) }
  }

  private func cutOff() {
    let connections = state.withLock { state in
      state.isCutOff = true
      return Array(state.connections.values)
    }
    for connection in connections { connection.close() }
  }

  /// Stops accepting, and closes the socket once every connection that the kernel has passed on is registered.
  private func stopAccepting(_ channel: any Channel, _ file: SocketFile?) async {
    file?.remove()
    try? await channel.setOption(.autoRead, value: false).get()
    // A connection passes from the socket's event loop to its own and back before it is set up.
    for loop in group.makeIterator() { try? await loop.submit {}.get() }
    let end = ContinuousClock.now + Self.patience
    while state.withLock({ !$0.pending.isEmpty }), .now < end { try? await Task.sleep(for: .milliseconds(5)) }
    for number in state.withLock({ Array($0.pending.keys) }) { decide(number, .refused(.shuttingDown)) }
    for loop in group.makeIterator() { try? await loop.submit {}.get() }
    try? await channel.close()
    acceptedContinuation.finish()
  }

  /// Returns the configuration that accepts connections and sets them up.
  ///
  /// - Parameter backlog: the largest number of connections that wait to be accepted. A passed socket gets as many as
  ///   the kernel allows, so that its unit's `Backlog=` is not lowered.
  private func makeBootstrap(backlog: CInt) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // NIO has called `listen` with its default of 128, before it reads any option.
          try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { descriptor in
            guard listen(descriptor, backlog) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
          }
          let pause = AcceptPauseHandler { self.state.withLock { !$0.isDraining } }
          try channel.pipeline.syncOperations.addHandler(pause)
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      // One read for each turn of the event loop, so that other connections are served too.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      // A channel is writable while all its bytes are with the kernel.
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.peer(of: channel) }
          .flatMap { peer in self.admit(peer, channel) }
      }
  }

  private func peer(of channel: any Channel) throws -> PeerCredentials {
    let peer = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
      PeerCredentials(descriptor: $0, pins: true)
    }
    guard let peer = peer ?? nil else { throw UnknownPeerError() }
    return peer
  }

  /// Decides about a connection and sets it up. Runs on the connection's event loop, before its first byte is read.
  private func admit(_ peer: PeerCredentials, _ channel: any Channel) -> EventLoopFuture<Void> {
    let admission = admit(peer)
    guard case .pending(let decide) = admission else {
      return channel.eventLoop.makeCompletedFuture { try self.setUp(channel, peer, admission) }
    }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let number = state.withLock { state in
      state.lastPending += 1
      state.pending[state.lastPending] = { admission in
        channel.eventLoop.execute { promise.completeWith(Result { try self.setUp(channel, peer, admission) }) }
      }
      return state.lastPending
    }
    Task { self.decide(number, await decide()) }
    return promise.futureResult
  }

  /// Sets up or refuses a connection, unless that was decided before.
  private func decide(_ number: UInt64, _ admission: ConnectionAdmission) {
    // Under the lock, so that the event loop has the work when the connection is no longer pending.
    state.withLock { $0.pending.removeValue(forKey: number)?(admission) }
  }

  /// Sets up a connection or refuses it.
  private func setUp(_ channel: any Channel, _ peer: PeerCredentials, _ admission: ConnectionAdmission) throws {
    let pipeline = channel.pipeline.syncOperations
    let allowance: Allowance?
    switch admission {
    case .refused(let refusal): return try pipeline.addHandler(RefusalHandler(error: refusal, count: refused))
    case .admitted(let given): allowance = given
    case .pending: throw UnknownPeerError()
    }
    let connection = Connection(peer: peer, allowance: allowance, eventLoop: channel.eventLoop)
    let core = connection.makeCore(state.withLock { $0.settings })
    let handler = ConnectionChannelHandler(core: core)
    core.start(wire: handler, handler: makeHandler(connection))
    let (isDraining, isCutOff) = state.withLock { state in
      state.connections[connection.id] = connection
      // The limits may have changed since the core was made.
      core.use(state.settings.limits)
      return (state.isDraining, state.isCutOff)
    }
    acceptedContinuation.yield(connection)
    do {
      try pipeline.addHandler(handler)
    } catch {
      core.lost()
      throw error
    }
    // A connection that was accepted while a drain began is drained like the others.
    if isCutOff { connection.close() } else if isDraining { connection.drain() }
  }
}
