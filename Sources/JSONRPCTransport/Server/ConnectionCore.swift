internal import JSONRPC
internal import NIOCore

/// The logic of a connection between its wire and the program's handler. Used on the connection's event loop only.
///
/// It carries out what `ConnectionState` decides, owns the tasks of running calls, and counts unsent bytes. The wire
/// receives and sends the bytes.
final class ConnectionCore {
  let eventLoop: any EventLoop
  private(set) var settings: ConnectionSettings
  let outbox: Outbox
  let allowance: Allowance?
  var state: ConnectionState<any AcceptedCall>
  var questions = Questions()
  var wire: (any Wire)?

  /// The messages that the wire has not been given yet; counted as unsent.
  var output = ByteBuffer()
  /// The framing; `nil` until the peer has chosen it.
  private(set) var framing: Framing?
  private var isFlushScheduled = false
  /// Whether the wire is passing bytes that it has read, and flushes afterwards.
  var isReading = false
  var handler: (any ConnectionHandler)?
  private var tasks: [ConnectionState<any AcceptedCall>.Ticket: Task<Void, Never>] = [:]
  /// The task that parses a long message; `nil` if there is none.
  var parsing: Task<Void, Never>?
  private var whenSent: [(limit: Int, body: @Sendable () -> Void)] = []
  let ended: EventLoopPromise<Void>
  /// The requests that another process will run; `nil` unless the connection is being handed over.
  var kept: KeptRequests?
  /// Whether the requests that are received were accepted before, by the process that handed the connection over.
  var isRepeating = false
  /// Whether the program has yet to continue the state of a connection that was handed over.
  var isAdopting = false
  private var hasAskedForEnd = false
  private var hasClosed = false
  /// Whether the wire pauses, because the user sends too much.
  var isPaused = false {
    didSet { watchPeer() }
  }
  /// The times that a drain still waits for the peer, apart from its calls: to read anything, and in all. They decrease
  /// while `drainWait` is set.
  private var patience = (forProgress: ConnectionCore.patienceForProgress, inAll: TimeAmount.milliseconds(300))
  private var drainWait: (start: NIODeadline, timer: Scheduled<Void>)?
  /// Whether the wire has ended. The core then only waits for the running calls to return.
  private(set) var isLost = false
  private var pendingBytes = 0
  private var keptBytes = 0

  /// The number of bytes of output that triggers a flush before the next frame is handled. Larger output is sent in
  /// pieces of this size.
  private static let outputPiece = 64 << 10
  private static let patienceForProgress = TimeAmount.milliseconds(250)
  /// The largest memory that is kept for the next output, in bytes.
  private static let keptCapacity = 4 << 10

  init(
    eventLoop: any EventLoop, settings: ConnectionSettings, outbox: Outbox, allowance: Allowance?,
    ended: EventLoopPromise<Void>
  ) {
    self.eventLoop = eventLoop
    self.settings = settings
    self.outbox = outbox
    self.allowance = allowance
    self.ended = ended
    state = ConnectionState(limits: settings.limits)
  }

  /// Replaces the limits, for messages that arrive from now on.
  func use(_ limits: TransportLimits) {
    settings.limits = limits
    state.limits = limits
  }

  /// Sets the framing of all messages to the peer, before the first one is received or sent.
  func use(_ framing: Framing) {
    self.framing = framing
    outbox.use(framing)
  }

  /// Connects the core to its wire and to the program's handler.
  func start(wire: any Wire, handler: any ConnectionHandler) {
    self.wire = wire
    self.handler = handler
  }

  var program: (any ConnectionHandler)? { isLost ? nil : handler }

  /// Whether to stop reading (back-pressure), because too many bytes are unsent. The threshold is lower while the user
  /// is over their buffer quota.
  var isBlocked: Bool {
    isTooMuch(outbox.unsent)
  }

  /// Whether unsent bytes plus the responses of incomplete batches exceed the threshold of `isBlocked`. Further members
  /// of a batch are then refused.
  var hasTooManyAnswers: Bool { isTooMuch(outbox.unsent + state.batches.byteCount) }

  private func isTooMuch(_ bytes: Int) -> Bool {
    if bytes > settings.limits.maxOutboundBytes { return true }
    return bytes > settings.limits.smallFrameBytes && allowance?.isCrowded == true
  }

  /// Reports to the allowance the bytes that are buffered apart from the output: `pending` bytes that were received but
  /// not handled yet, waiting requests, and the responses of incomplete batches.
  func keep(pending bytes: Int) {
    guard let allowance else { return }
    pendingBytes = isLost ? 0 : bytes
    let all = pendingBytes + state.queuedBytes + (isLost ? 0 : state.batches.byteCount)
    guard all != keptBytes else { return }
    allowance.count(buffered: all - keptBytes)
    keptBytes = all
  }

  // MARK: Calls

  func start(_ start: ConnectionState<any AcceptedCall>.Start) {
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    let (ticket, call, eventLoop) = (start.ticket, start.call, eventLoop)
    tasks[ticket] = Task {
      let result = await call.run()
      eventLoop.execute { home.value.finished(ticket, result) }
    }
  }

  /// Removes and returns the waiting requests.
  func removeWaiting() -> [ConnectionState<any AcceptedCall>.Departure] {
    let waiting = state.removeWaiting()
    allowance?.count(requests: -waiting.count)
    return waiting
  }

  func cancelTask(_ ticket: ConnectionState<any AcceptedCall>.Ticket) { tasks[ticket]?.cancel() }

  private func finished(
    _ ticket: ConnectionState<any AcceptedCall>.Ticket, _ result: Result<[UInt8], RPCError>
  ) {
    tasks[ticket] = nil
    guard let (departure, next) = state.finish(ticket) else { return endIfDone() }
    allowance?.count(requests: -1)
    keep(pending: pendingBytes)
    let isKept = !isLost && keep(departure, ticket, result)
    if !isKept, case .failure(let error) = result, error.reason == RPCError.shuttingDown.reason {
      departure.call.refused(with: error)
    }
    if !isLost {
      if !isKept { answer(departure.id, result, from: departure.call, to: departure.destination) }
      if let next { start(next) }
    }
    endIfDone()
  }

  // MARK: Output

  /// Writes a response, or adds it to its batch.
  func answer(
    _ id: RPCID, _ result: Result<[UInt8], RPCError>, from call: (any AcceptedCall)? = nil,
    to destination: AnswerDestination = .single
  ) {
    guard !isLost else { return }
    switch destination {
    case .single:
      write { $0.writeResponse(id: id, result) }
      call?.answered()
    case .batch(let number):
      let text =
        switch result {
        case .success(let result): RPCText.response(id: id, result: result)
        case .failure(let error): RPCText.response(id: id, error: error)
        }
      let complete = state.batches.add(text, from: call, to: number)
      keep(pending: pendingBytes)
      guard let complete else { return }
      write { $0.writeBytes(RPCText.batch(complete.texts)) }
      for call in complete.calls { call.answered() }
    case .discarded: call?.answered()
    }
  }

  private func write(_ body: (inout ByteBuffer) -> Void) {
    outbox.count(output.writeMessage(framing ?? .lines, body))
    scheduleFlush()
  }

  /// Sends the messages that other threads have added to the outbox.
  func collect() {
    var messages = outbox.take()
    guard !isLost, messages.readableBytes > 0 else { return }
    if output.readableBytes == 0 { output = messages } else { output.writeBuffer(&messages) }
    flush()
  }

  /// Schedules one flush for the turn of the event loop, however many responses are written in it, unless the wire
  /// flushes anyway.
  private func scheduleFlush() {
    guard !isFlushScheduled, !isReading else { return }
    isFlushScheduled = true
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.execute { home.value.flush() }
  }

  /// Flushes in the middle of a turn if there is much output.
  func flushIfLarge() {
    if output.readableBytes >= Self.outputPiece { flush() }
  }

  func flush() {
    isFlushScheduled = false
    guard !isLost else { return }
    // Sent in pieces, so that the write timeout sees the progress of a slow reader.
    while output.readableBytes > 2 * Self.outputPiece, let piece = output.readSlice(length: Self.outputPiece) {
      wire?.send(piece)
    }
    var rest = ByteBuffer()
    swap(&rest, &output)
    guard rest.readableBytes > 0 else { return endIfDone() }
    wire?.send(rest)
    // The next response needs no memory of its own if this one is sent already.
    if outbox.unsent == 0, rest.storageCapacity <= Self.keptCapacity {
      rest.clear()
      output = rest
    }
    endIfDone()
  }

  /// Counts bytes that the wire has sent or dropped, and runs the hooks that waited for it.
  func sent(_ bytes: Int) {
    outbox.count(-bytes)
    // A peer that sends too much could otherwise make the drain longer with its errors.
    if drainWait != nil, !isPaused {
      endDrainWait()
      patience.forProgress = Self.patienceForProgress
    }
    if !whenSent.isEmpty {
      let unsent = outbox.unsent
      let due = whenSent.filter { unsent < $0.limit }
      whenSent.removeAll { unsent < $0.limit }
      for hook in due { hook.body() }
    }
    endIfDone()
  }

  /// Runs `body` as soon as fewer than `limit` bytes are unsent, or the connection has ended.
  func whenUnsent(below limit: Int, _ body: @escaping @Sendable () -> Void) {
    if isLost || outbox.unsent < limit { body() } else { whenSent.append((limit, body)) }
  }

  // MARK: The end

  /// Takes the next step towards the end of the connection, if nothing in progress prevents it.
  ///
  /// When idle, a drained connection ends its input, and one whose input has ended closes once all bytes are sent.
  /// After `lost()`, the handler is notified when the last call has returned.
  func endIfDone() {
    if isLost {
      guard tasks.isEmpty, parsing == nil, let handler else { return }
      self.handler = nil
      handler.closed()
      ended.succeed(())
      return
    }
    watchPeer()
    if kept != nil { return settleIfDone() }
    guard state.isIdle else { return }
    if state.isInputEnded {
      guard outbox.unsent == 0 else { return }
      hasClosed = true
      wire?.close()
      watchPeer()
    } else if state.isDraining, questions.isEmpty, !hasAskedForEnd {
      // The kernel sets the boundary: bytes that the peer has sent until now are read and answered, later ones are not.
      hasAskedForEnd = true
      wire?.endInput()
    }
  }

  /// Limits the time for which a drain waits for the peer: to read, to send less, or to close its side.
  private func watchPeer() {
    guard state.isDraining || drainWait != nil else { return }
    let isWaiting =
      state.isDraining && state.isIdle && !isLost && kept == nil && (outbox.unsent > 0 || isPaused || hasClosed)
    if isWaiting, drainWait == nil {
      let home = NIOLoopBound(self, eventLoop: eventLoop)
      let timer = eventLoop.scheduleTask(in: min(patience.forProgress, patience.inAll)) {
        if let wire = home.value.wire { wire.abort() }
      }
      drainWait = (eventLoop.now, timer)
    } else if !isWaiting {
      endDrainWait()
    }
  }

  private func endDrainWait() {
    guard let wait = drainWait else { return }
    wait.timer.cancel()
    drainWait = nil
    let time = eventLoop.now - wait.start
    patience = (patience.forProgress - time, patience.inAll - time)
  }

  /// Ends the core after its wire has ended: abandons waiting requests and cancels running ones. Only the first call
  /// has an effect.
  func lost() {
    guard !isLost else { return }
    isLost = true
    wire = nil
    watchPeer()
    output = ByteBuffer()
    outbox.close()
    for departure in removeWaiting() { departure.call.abandon() }
    keep(pending: 0)
    for task in tasks.values { task.cancel() }
    questions.endAll(with: .failure(.closed))
    for hook in whenSent { hook.body() }
    whenSent = []
    dropKept()
    endIfDone()
  }
}
