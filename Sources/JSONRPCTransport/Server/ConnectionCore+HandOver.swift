internal import JSONRPC
internal import NIOCore

/// The requests of a connection that another process will run, because this one did not.
struct KeptRequests {
  /// The requests in order of arrival; a running one that was not run to its end has the number of its ticket.
  private var requests: [(number: UInt64, text: [UInt8])] = []
  /// Called once, when nothing is in progress; with `nil` if the connection ended before.
  private var waiter: ((_ handler: (any ConnectionHandler)?) -> Void)?

  /// Adds a request or notification.
  mutating func add(_ request: RPCRequest, number: UInt64, isNotification: Bool) {
    requests.append((number, request.text(isNotification: isNotification)))
  }

  /// The texts in order of arrival.
  var texts: [[UInt8]] {
    // Stable, because those that were refused have the same number.
    requests.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(\.element.text)
  }

  /// Calls `body` with the program's handler when nothing is in progress.
  mutating func whenSettled(_ body: @escaping (_ handler: (any ConnectionHandler)?) -> Void) { waiter = body }

  /// Calls the function that waits, once.
  mutating func settled(_ handler: (any ConnectionHandler)?) {
    let body = waiter
    waiter = nil
    body?(handler)
  }
}

/// The hand-over of a connection to another process, and its adoption there.
extension ConnectionCore {
  /// Reads no more, and keeps the requests that are not run from now on.
  func beginHandOver() {
    guard !isLost, kept == nil else { return }
    kept = KeptRequests()
    state.drain()
    endIfDone()
  }

  /// Calls `body` with the program's handler when no request is in progress, or with `nil` when the connection ends or
  /// the time is over. It is then closed.
  func whenSettled(within time: TimeAmount, _ body: @escaping (_ handler: (any ConnectionHandler)?) -> Void) {
    guard !isLost, kept != nil else { return body(nil) }
    kept?.whenSettled(body)
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    let timer = eventLoop.scheduleTask(in: time) {
      let core = home.value
      guard !core.isLost, !core.state.isIdle || core.parsing != nil || core.isAdopting else { return }
      core.kept?.settled(nil)
      core.kept = nil
      core.cutOff()
    }
    ended.futureResult.assumeIsolated().whenComplete { _ in timer.cancel() }
    endIfDone()
  }

  /// Calls the function that waits for the end of all requests, if there are none.
  func settleIfDone() {
    guard parsing == nil, state.isIdle, !isAdopting else { return }
    kept?.settled(handler)
  }

  /// Keeps a request that has ended without being run. Returns false if it is to be answered. A member of a batch is,
  /// because its batch is answered as a whole.
  func keep(
    _ departure: ConnectionState<any AcceptedCall>.Departure, _ ticket: ConnectionState<any AcceptedCall>.Ticket,
    _ result: Result<[UInt8], RPCError>
  ) -> Bool {
    guard kept != nil, case .failure(let error) = result, let request = departure.request else { return false }
    return keep(request, refused: error, departure.destination, number: ticket.number)
  }

  /// Keeps a request that was refused because of the hand-over. Returns false if it is to be answered.
  func keep(
    _ request: RPCRequest, refused error: RPCError, _ destination: AnswerDestination, number: UInt64 = .max
  ) -> Bool {
    guard kept != nil, error.reason == RPCError.shuttingDown.reason else { return false }
    switch destination {
    case .batch: return false
    case .single: kept?.add(request, number: number, isNotification: false)
    case .discarded: kept?.add(request, number: number, isNotification: true)
    }
    return true
  }

  /// Takes the connection out of this process. Returns `nil` if it has ended, or is not to be handed over.
  ///
  /// - Parameters:
  ///   - lastQuestion: the number of the last request of ours.
  ///   - processStart: the start time by which the peer's process is pinned.
  func pack(program: JSON, lastQuestion: UInt64, processStart: UInt64?) -> (
    descriptor: CInt, state: ConnectionHandOver
  )? {
    guard !isLost, let texts = kept?.texts, state.isIdle, parsing == nil else { return nil }
    // The peer need not answer what nobody here waits for any more.
    for id in questions.ids {
      _ = outbox.add(RPCText.notification(method: TransportMethod.cancelRequest, params: ["id": .string(id)]))
    }
    var messages = outbox.take()
    output.writeBuffer(&messages)
    let rest = output
    guard let detached = wire?.detach() else { return nil }
    let handed = ConnectionHandOver(
      inode: ConnectionHandOver.inode(of: detached.descriptor), framing: framing, input: detached.input,
      output: Array(detached.unsent.readableBytesView) + Array(rest.readableBytesView), requests: texts,
      lastQuestion: lastQuestion, processStart: processStart, program: program)
    // The program knows that the connection goes on, so it is not notified of an end.
    handler = nil
    lost()
    ended.succeed(())
    return (detached.descriptor, handed)
  }

  /// Continues a connection of another process.
  func adopt(_ state: ConnectionHandOver) {
    isAdopting = true
    if let framing = state.framing { use(framing) }
    output.writeBytes(state.output)
    outbox.count(state.output.count)
  }

  /// Receives the requests that another process has accepted and not run.
  func repeatRequests(_ texts: [[UInt8]]) {
    isAdopting = false
    isRepeating = true
    for text in texts { receive(text[...]) }
    isRepeating = false
  }
}

extension RPCRequest {
  /// Returns the text of the message.
  fileprivate func text(isNotification: Bool) -> [UInt8] {
    var message: JSONObject = ["jsonrpc": "2.0"]
    if !isNotification { message["id"] = id.json }
    message["method"] = .string(method)
    message["params"] = params
    return JSONWriter.bytes(of: .object(message))
  }
}
