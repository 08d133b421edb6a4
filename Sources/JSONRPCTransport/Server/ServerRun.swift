internal import Glibc
internal import JSONRPC
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The run of a listener: accepts connections, and ends with the last of them.
final class ServerRun: Sendable {
  struct Contents {
    var settings: ConnectionSettings
    var connections: [UInt64: Connection] = [:]
    var channel: (any Channel)?
    var graces: [Scheduled<Void>] = []
    var isAccepting = true
    var isDraining = false
    var isCutOff = false
    var isHandingOver = false
    var keepsFile = false
    /// The connections of another process whose state the program has yet to continue.
    var adopted: [Adopted] = []
    /// The number of connections of another process that were refused.
    var refusedAdopted = 0
    /// Whether the time for setting up connections of another process is over. Later ones are closed.
    var isAdoptionOver = false
    /// The functions that set up or refuse the connections whose admission is being decided, by their numbers.
    var pending: [UInt64: @Sendable (ConnectionAdmission) -> Void] = [:]
    var lastPending: UInt64 = 0
  }

  let group: MultiThreadedEventLoopGroup
  private let admit: Listener.Admission
  private let makeHandler: Listener.MakeHandler
  let state: Mutex<Contents>
  private let refused = RefusalHandler.Count()
  private let allEnded: EventLoopPromise<Void>
  private let drainStarted: AsyncStream<Void>
  let drainContinuation: AsyncStream<Void>.Continuation
  let acceptingEnded: AsyncStream<Void>
  private let acceptingContinuation: AsyncStream<Void>.Continuation

  init(
    group: MultiThreadedEventLoopGroup, settings: ConnectionSettings, admit: @escaping Listener.Admission,
    makeHandler: @escaping Listener.MakeHandler
  ) {
    self.group = group
    state = Mutex(Contents(settings: settings))
    self.admit = admit
    self.makeHandler = makeHandler
    allEnded = group.next().makePromise()
    (drainStarted, drainContinuation) = AsyncStream.makeStream()
    (acceptingEnded, acceptingContinuation) = AsyncStream.makeStream()
  }

  func serve(
    _ descriptor: CInt, _ file: SocketFile?, adopting handed: Adoption?, whenAccepting: @escaping @Sendable () -> Void
  ) async throws {
    defer { acceptingContinuation.finish() }
    if let handed { await adopt(handed) }
    let channel: any Channel
    do {
      channel = try await makeBootstrap(backlog: file == nil ? .max : ListeningSocket.backlog).withBoundSocket(
        descriptor
      ).get()
    } catch {
      file?.remove()
      allEnded.succeed()
      throw error
    }
    whenAccepting()
    for await _ in drainStarted {}
    await stopAccepting(channel, file)
    try? await allEnded.futureResult.get()
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
    if !state.withLock({ $0.keepsFile }) { file?.remove() }
    try? await channel.setOption(.autoRead, value: false).get()
    // A connection passes from the socket's event loop to its own and back before it is set up.
    for loop in group.makeIterator() { try? await loop.submit {}.get() }
    let end = ContinuousClock.now + Self.patience
    while state.withLock({ !$0.pending.isEmpty }), .now < end { try? await Task.sleep(for: .milliseconds(5)) }
    for number in state.withLock({ Array($0.pending.keys) }) { decide(number, .refused(.shuttingDown)) }
    for loop in group.makeIterator() { try? await loop.submit {}.get() }
    try? await channel.close()
    acceptingContinuation.finish()
    let isOver = state.withLock { state in
      state.isAccepting = false
      return state.connections.isEmpty
    }
    if isOver { allEnded.succeed() }
  }

  /// Forgets a connection that has ended.
  private func ended(_ connection: Connection) {
    let isOver = state.withLock { state in
      state.connections[connection.id] = nil
      return !state.isAccepting && state.connections.isEmpty
    }
    if isOver { allEnded.succeed() }
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

  func peer(of channel: any Channel, pins: Bool = true) throws -> PeerCredentials {
    let peer = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
      PeerCredentials(descriptor: $0, pins: pins)
    }
    guard let peer = peer ?? nil else { throw UnknownPeerError() }
    return peer
  }

  /// Decides about a connection and sets it up. Runs on the connection's event loop, before its first byte is read.
  func admit(
    _ peer: PeerCredentials, _ channel: any Channel, adopting handed: ConnectionHandOver? = nil,
    by admit: Listener.Admission? = nil
  ) -> EventLoopFuture<Void> {
    let admission = (admit ?? self.admit)(peer)
    guard case .pending(let decide) = admission else {
      return channel.eventLoop.makeCompletedFuture { try self.setUp(channel, peer, admission, adopting: handed) }
    }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let number = state.withLock { state in
      state.lastPending += 1
      state.pending[state.lastPending] = { admission in
        channel.eventLoop.execute {
          promise.completeWith(Result { try self.setUp(channel, peer, admission, adopting: handed) })
        }
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
  private func setUp(
    _ channel: any Channel, _ peer: PeerCredentials, _ admission: ConnectionAdmission,
    adopting handed: ConnectionHandOver?
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let allowance: Allowance?
    switch admission {
    case .refused(let refusal):
      if handed != nil { state.withLock { $0.refusedAdopted += 1 } }
      return try pipeline.addHandler(RefusalHandler(error: refusal, count: refused))
    case .admitted(let given): allowance = given
    case .pending: throw UnknownPeerError()
    }
    let connection = Connection(peer: peer, allowance: allowance, eventLoop: channel.eventLoop, adopting: handed)
    let core = connection.makeCore(state.withLock { $0.settings })
    let program = makeHandler(connection)
    let handler = makeWire(core, of: connection, program, adopting: handed)
    core.start(wire: handler, handler: program)
    let (isDraining, isCutOff, isHandingOver) = state.withLock { state in
      state.connections[connection.id] = connection
      // The limits may have changed since the core was made.
      core.use(state.settings.limits)
      return (state.isDraining, state.isCutOff, state.isHandingOver)
    }
    connection.whenEnded { self.ended(connection) }
    do {
      try pipeline.addHandler(handler)
    } catch {
      core.lost()
      throw error
    }
    // A connection that was accepted while a drain began is drained like the others.
    if isCutOff {
      connection.close()
    } else if isHandingOver {
      connection.beginHandOver()
    } else if isDraining {
      connection.drain()
    }
  }
}
