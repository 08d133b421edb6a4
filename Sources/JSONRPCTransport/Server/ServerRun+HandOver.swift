internal import JSONRPC
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The hand-over of a listener's connections to another process, and their adoption there.
extension ServerRun {
  /// A connection of another process that is set up here.
  struct Adopted: Sendable {
    let connection: Connection
    let program: any ConnectionHandler
    let wire: NIOLoopBound<ConnectionChannelHandler>
    let handed: ConnectionHandOver
  }

  /// Stops accepting and reading, and keeps the requests that are not run from now on.
  func beginHandOver(keepsFile: Bool) {
    let connections = state.withLock { state in
      state.isDraining = true
      state.isHandingOver = true
      state.keepsFile = keepsFile
      return Array(state.connections.values)
    }
    drainContinuation.finish()
    for connection in connections { connection.beginHandOver() }
  }

  /// Takes the connections out of this process. Those whose requests in progress take longer than `time` are closed.
  func handOver(within time: Duration) async -> [HandedConnection] {
    for await _ in acceptingEnded {}
    var programs: [(Connection, JSON)] = []
    for (connection, handler) in await settled(connections, within: time) {
      if let program = await handler.handOver() { programs.append((connection, program)) } else { connection.close() }
    }
    let packed = Mutex<[HandedConnection]>([])
    await onLoops(programs, { $0.0.eventLoop }) { connection, program in
      if let handed = connection.pack(program) {
        packed.withLock { $0.append(handed) }
      } else {
        connection.close()
      }
    }
    return packed.withLock { $0 }
  }

  /// Waits until connections have no request in progress, and returns them with the program's handlers.
  private func settled(
    _ connections: [Connection], within time: Duration
  ) async -> [(Connection, any ConnectionHandler)] {
    let (results, continuation) = AsyncStream.makeStream(of: (Connection, (any ConnectionHandler)?).self)
    await onLoops(connections, \.eventLoop) { connection in
      connection.whenSettled(within: time) { continuation.yield((connection, $0)) }
    }
    var settled: [(Connection, any ConnectionHandler)] = []
    var iterator = results.makeAsyncIterator()
    for _ in connections {
      guard let (connection, handler) = await iterator.next() else { break }
      if let handler { settled.append((connection, handler)) } else { connection.close() }
    }
    return settled
  }

  /// Runs `body` for each element on its event loop: one step for all elements of a loop, and all loops at the same time.
  private func onLoops<Element: Sendable>(
    _ elements: [Element], _ loop: (Element) -> any EventLoop, _ body: @escaping @Sendable (Element) -> Void
  ) async {
    let steps = Dictionary(grouping: elements, by: { ObjectIdentifier(loop($0)) }).values.map { members in
      loop(members[0]).submit { for element in members { body(element) } }
    }
    for step in steps { try? await step.get() }
  }

  /// Continues the connections that another process has handed over, except those that are refused or take too long.
  func adopt(_ adoption: Adoption) async {
    await setUpConnections(of: adoption)
    let (adopted, refused) = state.withLock { state in
      defer { state.adopted = [] }
      state.isAdoptionOver = true
      return (state.adopted, state.refusedAdopted)
    }
    let continued = await continuePrograms(of: adopted, within: adoption.stepLimit)
    adoption.whenDone(continued.count, refused)
    await onLoops(continued, \.wire.eventLoop) { $0.wire.value.begin(repeating: $0.handed) }
  }

  /// Sets up the connections of another process. Returns when each is set up or refused, or the time is over.
  private func setUpConnections(of adoption: Adoption) async {
    let connections = adoption.connections.take()
    let (done, continuation) = AsyncStream.makeStream(of: Void.self)
    let loops = Array(group.makeIterator())
    let steps = loops.indices.map { index -> EventLoopFuture<Void> in
      let loop = loops[index]
      return loop.flatSubmit { () -> EventLoopFuture<Void> in
        let own = stride(from: index, to: connections.count, by: loops.count).map { number in
          self.setUpConnection(connections[number], of: adoption, on: loop)
        }
        return EventLoopFuture.andAllComplete(own, on: loop)
      }
    }
    EventLoopFuture.andAllComplete(steps, on: group.next()).whenComplete { _ in continuation.finish() }
    let timer = group.next().scheduleTask(in: TimeAmount(adoption.stepLimit)) { continuation.finish() }
    for await _ in done {}
    timer.cancel()
  }

  /// Sets up a connection of another process on an event loop. Runs there, which saves a switch of threads for each.
  private func setUpConnection(
    _ handed: HandedConnection, of adoption: Adoption, on loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { () throws -> PeerCredentials in
          // As in `makeBootstrap`, in one step.
          let options = channel.syncOptions
          try options?.setOption(.allowRemoteHalfClosure, value: true)
          try options?.setOption(.maxMessagesPerRead, value: 1)
          try options?.setOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
          return try self.peer(of: channel, handed.state, adoption)
        }
        .flatMap { peer in self.admit(peer, channel, adopting: handed.state, by: adoption.admit) }
      }
      .withConnectedSocket(handed.descriptor).map { _ in }
  }

  /// Returns the peer of a connection of another process, with the process as it was seen there, or else pinned as there.
  private func peer(
    of channel: any Channel, _ handed: ConnectionHandOver, _ adoption: Adoption
  ) throws -> PeerCredentials {
    let peer = try self.peer(of: channel, pins: false)
    if let seen = adoption.seen(peer.pid, handed) { return peer.with(seen) }
    return try self.peer(of: channel).pinned(byStart: handed.processStart)
  }

  /// Has the program continue its state of connections. Returns those for which it has done so in time, and closes the
  /// others.
  private func continuePrograms(of adopted: [Adopted], within time: Duration) async -> [Adopted] {
    let (done, continuation) = AsyncStream.makeStream(of: Void.self)
    let continued = Mutex(0)
    // Not a child of this task, which must not wait longer than the time for a program that hangs.
    let work = Task {
      for connection in adopted where !Task.isCancelled {
        await connection.program.adopt(connection.handed.program)
        continued.withLock { $0 += 1 }
      }
      continuation.finish()
    }
    let timer = group.next().scheduleTask(in: TimeAmount(time)) { continuation.finish() }
    for await _ in done {}
    timer.cancel()
    work.cancel()
    let count = continued.withLock { $0 }
    for late in adopted[count...] { late.connection.close() }
    return Array(adopted[..<count])
  }

  /// Makes the wire of a connection. One that was handed over begins when the program has continued its state. It is
  /// closed if the time for that is over.
  func makeWire(
    _ core: ConnectionCore, of connection: Connection, _ program: any ConnectionHandler,
    adopting handed: ConnectionHandOver?
  ) -> ConnectionChannelHandler {
    guard let handed else { return ConnectionChannelHandler(core: core) }
    core.adopt(handed)
    let handler = ConnectionChannelHandler(core: core, input: handed.input)
    let wire = NIOLoopBound(handler, eventLoop: core.eventLoop)
    let adopted = Adopted(connection: connection, program: program, wire: wire, handed: handed)
    let isInTime = state.withLock { state in
      if !state.isAdoptionOver { state.adopted.append(adopted) }
      return !state.isAdoptionOver
    }
    if !isInTime { connection.close() }
    return handler
  }
}
