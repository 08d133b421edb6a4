internal import JSONRPC
internal import NIOCore

/// What happens on a connection between its lines and the program. Used on its event loop only.
///
/// It does what `ConnectionState` says, owns the tasks of the calls that run, and counts what is unsent. How
/// bytes come and go is the wire's business.
final class ConnectionCore {
  let eventLoop: any EventLoop
  private(set) var settings: ConnectionSettings
  let outbox: Outbox
  let allowance: Allowance?
  var state: ConnectionState<any AcceptedCall>
  var questions = Questions()
  var wire: (any Wire)?

  /// Lines that the wire has not been given yet; counted as unsent.
  private var output = ByteBuffer()
  private var isFlushScheduled = false
  private var handler: (any ConnectionHandler)?
  private var tasks: [ConnectionState<any AcceptedCall>.Ticket: Task<Void, Never>] = [:]
  /// Reads a long line.
  var parsing: Task<Void, Never>?
  private var whenSent: [(limit: Int, body: @Sendable () -> Void)] = []
  private let ended: EventLoopPromise<Void>
  private var hasAskedForEnd = false
  /// The wire is gone; what still runs only has to come home.
  private(set) var isLost = false
  var isFirstFrame = true
  private var pendingBytes = 0
  private var keptBytes = 0

  /// More than this goes to the wire before the next frame is looked at.
  private static let outputPiece = 64 << 10

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

  /// Puts other limits in force, for what comes from now on.
  func use(_ limits: TransportLimits) {
    settings.limits = limits
    state.limits = limits
  }

  /// Sets both ends: what carries the bytes and the program.
  func start(wire: any Wire, handler: any ConnectionHandler) {
    self.wire = wire
    self.handler = handler
  }

  var program: (any ConnectionHandler)? { isLost ? nil : handler }

  /// Whether so much is unsent that nothing more should be read. Less is so much when its user's connections keep a
  /// lot together.
  var isBlocked: Bool {
    isTooMuch(outbox.unsent)
  }

  /// Whether so many bytes of answers are kept, those of unfinished batches included, that no more members of a batch
  /// should run.
  var hasTooManyAnswers: Bool { isTooMuch(outbox.unsent + state.batches.byteCount) }

  private func isTooMuch(_ bytes: Int) -> Bool {
    if bytes > settings.limits.maxOutboundBytes { return true }
    return bytes > settings.limits.smallFrameBytes && allowance?.isCrowded == true
  }

  /// Counts the bytes that are kept beside the output: `pending` at the wire, the requests that wait, and the answers of
  /// unfinished batches.
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

  /// Takes out the requests that wait.
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
    if !isLost {
      answer(departure.id, result, from: departure.call, to: departure.destination)
      if let next { start(next) }
    }
    endIfDone()
  }

  // MARK: Output

  /// Writes an answer, or adds it to its batch.
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
    }
  }

  private func write(_ body: (inout ByteBuffer) -> Void) {
    let before = output.writerIndex
    body(&output)
    output.writeInteger(UInt8(ascii: "\n"))
    outbox.count(output.writerIndex - before)
    scheduleFlush()
  }

  /// Takes over what other threads have sent.
  func collect() {
    var lines = outbox.take()
    guard !isLost, lines.readableBytes > 0 else { return }
    if output.readableBytes == 0 { output = lines } else { output.writeBuffer(&lines) }
    flush()
  }

  /// Once a turn of the event loop, however many answers come in it.
  private func scheduleFlush() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.execute { home.value.flush() }
  }

  /// Gives the wire much output in the middle of a turn.
  func flushIfLarge() {
    if output.readableBytes >= Self.outputPiece { flush() }
  }

  func flush() {
    isFlushScheduled = false
    guard !isLost else { return }
    // In pieces, so that a slow reader of a long text is seen to make progress.
    while output.readableBytes > 2 * Self.outputPiece, let piece = output.readSlice(length: Self.outputPiece) {
      wire?.send(piece)
    }
    guard output.readableBytes > 0 else { return endIfDone() }
    let rest = output
    output = ByteBuffer()
    wire?.send(rest)
    endIfDone()
  }

  /// The wire has got rid of this much.
  func sent(_ bytes: Int) {
    outbox.count(-bytes)
    let unsent = outbox.unsent
    let due = whenSent.filter { unsent < $0.limit }
    whenSent.removeAll { unsent < $0.limit }
    for hook in due { hook.body() }
    endIfDone()
  }

  /// Runs `body` as soon as less than `limit` bytes are unsent, or the connection has ended.
  func whenUnsent(below limit: Int, _ body: @escaping @Sendable () -> Void) {
    if isLost || outbox.unsent < limit { body() } else { whenSent.append((limit, body)) }
  }

  // MARK: The end

  /// Closes the connection when it is time, by the state of what is in progress.
  func endIfDone() {
    if isLost {
      guard tasks.isEmpty, parsing == nil, let handler else { return }
      self.handler = nil
      handler.closed()
      ended.succeed(())
      return
    }
    guard state.isIdle else { return }
    if state.isInputEnded {
      if outbox.unsent == 0 { wire?.close() }
    } else if state.isDraining, questions.isEmpty, !hasAskedForEnd {
      // The kernel draws the line: what the peer has sent until now is read and answered, nothing after it.
      hasAskedForEnd = true
      wire?.endInput()
    }
  }

  /// The wire is gone. Called once, by the wire.
  func lost() {
    guard !isLost else { return }
    isLost = true
    wire = nil
    output = ByteBuffer()
    outbox.close()
    for departure in removeWaiting() { departure.call.abandon() }
    keep(pending: 0)
    for task in tasks.values { task.cancel() }
    questions.endAll(with: .failure(.closed))
    for hook in whenSent { hook.body() }
    whenSent = []
    endIfDone()
  }
}
